"""The checks of ``sizeup doctor``: what works on this machine and terminal, and what to do where something does not."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from sizeup.model.machine import Limits, Machine
from sizeup.text import if_known, one_line
from sizeup.units import as_percent, format_bytes, format_count, format_decimal_bytes
from sizeup.views.machine.virtualization import UNPROVEN, runs_on

SCHEMA = "sizeup.doctor/1"

_WIDTH = 80
_NAME_WIDTH = 19
_VALUE_COLUMN = 4 + _NAME_WIDTH

_CAP_IPC_LOCK = 14
_CAPABILITY_NAMES = {_CAP_IPC_LOCK: "ipc_lock", 17: "sys_rawio", 21: "sys_admin", 23: "sys_nice", 38: "perfmon"}
"""The capabilities that measurements use; numbers from linux/capability.h."""

_LOCKED_BYTES_WANTED = 64 << 20
_OPEN_FILES_WANTED = 1024
_AIO_WANTED = 4096
_FREE_BYTES_WANTED = 64 << 20

_FAST_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"}
)
"""Clock sources that the vDSO reads without entering the kernel."""


class CheckStatus(Enum):
    """The result of a check; the value is the mark at the start of its line."""

    OK = " "
    LIMITED = "!"
    UNAVAILABLE = "x"


class Check(Struct, frozen=True):
    """One check."""

    area: str
    name: str
    value: str | int | float | bool | None
    """For programs, in the unit; None if unknown."""
    shown: str
    """For people."""
    unit: str = ""
    status: CheckStatus = CheckStatus.OK
    remedy: str = ""
    """The consequence and what to do; empty if the status is ok."""


def limited_check(
    area: str, name: str, value: str | float | None, shown: str, remedy: str, *, limited: bool, unit: str = ""
) -> Check:
    """Return a check that works with limits, where it is ``limited``, and then needs the remedy."""
    if limited:
        return Check(area, name, value, shown, unit, CheckStatus.LIMITED, remedy)
    return Check(area, name, value, shown, unit)


_PRESSURE_PERCENT = 10.0
"""Time that tasks waited for a resource from which on a measurement is likely to be disturbed."""


def load_checks(load: float | None, cpus: int, pressure: Mapping[str, float | None]) -> Iterator[Check]:
    """Return how busy the host is: the load of the last minute, and by resource the time that tasks waited, in %."""
    remedy = "Figures measured now may not converge; measure on an idle host."
    busy = load is not None and load > cpus / 2
    shown = "unknown: /proc/loadavg cannot be read" if load is None else f"{load:g} on {cpus} CPUs in the last minute"
    yield limited_check("load", "load average", load, shown, remedy, limited=busy)
    for resource, percent in pressure.items():
        waits = percent is not None and percent > _PRESSURE_PERCENT
        shown = "unknown: needs Linux 4.20 with CONFIG_PSI"
        if percent is not None:
            shown = f"tasks waited {percent:g} % of the last 10 s"
        yield limited_check("load", f"{resource} pressure", percent, shown, remedy, limited=waits, unit="%")


def access_checks(machine: Machine, limits: Limits, user: int) -> Iterator[Check]:
    """Return the checks of access rights and of limits: of this process, a container, a service or taskset."""
    platform = machine.platform
    capabilities = limits.capabilities or frozenset()
    held = [name for number, name in _CAPABILITY_NAMES.items() if number in capabilities]
    if user == 0:
        all_held = len(held) == len(_CAPABILITY_NAMES)
        shown = "root" if all_held else f"root, capabilities limited to: {', '.join(held) or 'none'}"
    else:
        shown = f"uid {user}, {'capabilities: ' + ', '.join(held) if held else 'no capabilities'}"
    yield Check("access", "user", user, shown)
    locked, lifted = platform.memlock_bytes, _CAP_IPC_LOCK in capabilities
    shown = "no limit (capability ipc_lock)" if lifted else f"at most {if_known(locked, format_bytes)}"
    shown = "no limit" if platform.memlock_unlimited else "unknown" if locked is None and not lifted else shown
    tight = locked is not None and locked < _LOCKED_BYTES_WANTED and not lifted
    remedy = "Large buffers cannot be locked in memory; raise the limit with ulimit -l or LimitMEMLOCK=."
    yield limited_check("access", "locked memory", locked, shown, remedy, limited=tight, unit="bytes")
    if limits.open_files is not None:
        remedy = f"Measuring many devices at once needs more; raise the limit with ulimit -n {_OPEN_FILES_WANTED}."
        few = limits.open_files < _OPEN_FILES_WANTED
        shown = f"at most {limits.open_files:,}"
        yield limited_check("access", "open files", limits.open_files, shown, remedy, limited=few)
    most = limits.aio_requests_max
    left = None if most is None else most - (limits.aio_requests_used or 0)
    shown = "not available" if left is None else f"{left:,} requests left of {most or 0:,}"
    remedy = "This kernel lacks io_submit(2) or blocks it, so Linux AIO cannot be measured."
    if left is not None:
        remedy = "Deep queues and databases need more; raise the limit: sysctl fs.aio-max-nr=1048576"
    short = left is None or left < _AIO_WANTED
    yield limited_check("access", "asynchronous I/O", left, shown, remedy, limited=short)
    switch = limits.io_uring_disabled
    disabled = switch == 2 or (switch == 1 and user != 0)
    shown = f"disabled (kernel.io_uring_disabled is {switch})" if disabled else "not disabled"
    remedy = "Enable it: sysctl kernel.io_uring_disabled=0"
    yield limited_check("access", "io_uring", not disabled, shown, remedy, limited=disabled)
    level = limits.perf_event_paranoid
    shut = level is not None and level > 2 and not capabilities & {21, 38}
    shown = "not in this kernel" if level is None else f"kernel.perf_event_paranoid is {level}"
    remedy = "This user cannot read them; allow it: sysctl kernel.perf_event_paranoid=2"
    yield limited_check("access", "hardware counters", level, shown, remedy, limited=shut)
    pages = [pool for pool in machine.huge_pages if pool.total]
    free = sum(pool.free * pool.page_bytes for pool in pages)
    pools = ", ".join(f"{pool.free:,} of {pool.total:,} free at {format_bytes(pool.page_bytes)}" for pool in pages)
    transparent = platform.transparent_huge_pages
    shown = (pools or ("none reserved" if machine.huge_pages else "unknown")) + (
        f"; transparent: {transparent}" if transparent else ""
    )
    yield Check("access", "huge pages", free if machine.huge_pages else None, shown, unit="bytes")
    counts, group = machine.pu_counts, platform.control_group
    remedy = "Results describe this share of the machine, not the whole machine."
    less, shown = counts.allowed < counts.online, f"{counts.allowed} of {counts.online} usable"
    yield limited_check("access", "CPUs", counts.allowed, shown, remedy, limited=less)
    if group is not None and group.cpu_quota is not None:
        shown = f"limited to {group.cpu_quota:g} CPUs by the control group"
        yield Check("access", "CPU time", group.cpu_quota, shown, "", CheckStatus.LIMITED, remedy)
    if group is not None and group.memory_bytes is not None:
        shown = f"limited to {format_bytes(group.memory_bytes)} by the control group"
        yield Check("access", "memory", group.memory_bytes, shown, "bytes", CheckStatus.LIMITED, remedy)


def machine_checks(machine: Machine) -> Iterator[Check]:
    """Return the checks of the hypervisor and of the clock."""
    area, platform = "machine", machine.platform
    yield Check(area, "runs on", platform.hypervisor, runs_on(platform) or UNPROVEN)
    if platform.container is not None:
        yield Check(area, "container", platform.container, one_line(platform.container, 40))
    source = platform.clock_source
    slow = source is not None and source not in _FAST_CLOCKS
    remedy = "Reading this clock needs a system call; measure what it costs."
    yield limited_check(area, "clock source", source, one_line(source or "unknown", 40), remedy, limited=slow)
    if platform.steal_share is not None:
        shown = f"{as_percent(platform.steal_share, '.1f')} of CPU time since boot"
        yield Check(area, "steal time", platform.steal_share, shown, unit="1")


class StoreFacts(Struct, frozen=True):
    """The directory where sessions are saved."""

    folder: str
    writable: bool
    free_bytes: int | None


def store_checks(facts: StoreFacts) -> Iterator[Check]:
    """Return the checks of the directory where sessions are saved."""
    remedy = "Sessions cannot be saved there; name a file with sizeup --batch -o FILE, or set XDG_STATE_HOME."
    remedy = "" if facts.writable else remedy
    status = CheckStatus.OK if facts.writable else CheckStatus.UNAVAILABLE
    yield Check("files", "sessions", facts.folder, one_line(facts.folder, 200), "", status, remedy)
    if facts.free_bytes is not None:
        little, shown = facts.free_bytes < _FREE_BYTES_WANTED, f"{format_decimal_bytes(facts.free_bytes)}"
        remedy = "A long run may not fit; save it on another file system with sizeup --batch -o FILE."
        yield limited_check("files", "free space", facts.free_bytes, shown, remedy, limited=little, unit="bytes")


def configuration_checks(path: str, *, found: bool, unknown_variables: Iterable[str]) -> Iterator[Check]:
    """Return the checks of the configuration file and of unknown variables."""
    yield Check("files", "configuration", path if found else None, path if found else f"none ({path})")
    names = ", ".join(one_line(name, 40) for name in unknown_variables)
    if names:
        remedy = "Not a setting of sizeup; see: sizeup doctor --keys"
        yield Check("files", "unknown variables", names, names, "", CheckStatus.LIMITED, remedy)


def probe_checks(reasons: Mapping[str, str | None]) -> Iterator[Check]:
    """Return a check per probe from the reasons why it cannot run, None where it can."""
    for name, reason in reasons.items():
        shown = "can run" if reason is None else "cannot run"
        status = CheckStatus.OK if reason is None else CheckStatus.UNAVAILABLE
        remedy = "" if reason is None else f"{reason[:1].upper()}{reason[1:]}."
        yield Check("probes", name, reason is None, shown, "", status, remedy)


def doctor_lines(checks: Iterable[Check]) -> list[str]:
    """Return the checks as text lines of 80 columns."""
    lines: list[str] = []
    area = ""
    for check in checks:
        if check.area != area:
            area = check.area
            lines += [*([""] if lines else []), area.capitalize()]
        start = f"  {check.status.value} {check.name:{_NAME_WIDTH - 1}} "
        for text, first in ((check.shown, start), (check.remedy, " " * _VALUE_COLUMN)):
            lines += textwrap.wrap(
                text, _WIDTH, initial_indent=first, subsequent_indent=" " * _VALUE_COLUMN,
                break_long_words=False, break_on_hyphens=False,  # paths and commands stay whole, to be copied
            )  # fmt: skip
    return [*lines, "", "! works with limits    x does not work here", "Every command: sizeup help commands"]


def doctor_data(checks: Iterable[Check]) -> dict[str, Any]:
    """Return the checks as the document of ``sizeup doctor --json``."""
    return {
        "schema": SCHEMA,
        "checks": [
            {
                "area": check.area,
                "name": check.name,
                "value": check.value,
                "unit": check.unit,
                "text": check.shown,
                "status": check.status.name.lower(),
                "remedy": check.remedy,
            }
            for check in checks
        ],
    }


class TerminalFacts(Struct, frozen=True):
    """What the environment and the terminal report."""

    present: bool
    """Both standard input and standard error, where the console draws, are terminals."""
    term: str
    columns: int
    rows: int
    colors: int
    """How many colors the console uses; 0 for none."""
    no_color: bool
    """Whether NO_COLOR is set."""
    locale: str
    locale_utf8: bool
    ascii_only: bool
    """Whether the console uses ASCII characters only."""
    around: tuple[str, ...]
    """Multiplexers and connections between this process and the terminal, nearest first."""


def terminal_checks(facts: TerminalFacts) -> Iterator[Check]:
    """Return the checks of the terminal."""
    area = "terminal"
    if not facts.present:
        remedy = "The console needs a terminal on standard input and standard error; sizeup --batch does not."
        yield Check(area, "type", None, "no terminal here", status=CheckStatus.UNAVAILABLE, remedy=remedy)
        return
    dumb = facts.term in ("", "dumb")
    status = CheckStatus.UNAVAILABLE if dumb else CheckStatus.OK
    remedy = "The console needs a terminal that can move the cursor; set TERM to its type, or use sizeup --batch."
    shown = one_line(facts.term, 40) or "TERM is not set"
    yield Check(area, "type", facts.term, shown, "", status, remedy if dumb else "")
    small, size = facts.columns < 80 or facts.rows < 24, f"{facts.columns}x{facts.rows}"
    shown = f"{facts.columns} columns, {facts.rows} rows"
    remedy = "The console needs 80 x 24 to show everything; enlarge the window."
    yield limited_check(area, "size", size, shown, remedy, limited=small)
    remedy = ""
    if facts.colors:
        shown = format_count(facts.colors)
        if facts.colors <= 16 and not facts.term.startswith("linux"):
            remedy = "If the terminal supports more colors, set TERM=xterm-256color or COLORTERM=truecolor."
    else:
        shown = f"none ({'NO_COLOR is set' if facts.no_color else 'by TERM'})"
    yield Check(area, "colors", facts.colors, shown, remedy=remedy)
    shown = f"{'UTF-8' if facts.locale_utf8 else 'not UTF-8'} by the locale ({one_line(facts.locale, 30)})"
    remedy = ""
    if facts.locale_utf8 and facts.ascii_only:
        remedy = "The console uses ASCII, because the font of this terminal lacks most other characters; "
        remedy += "sizeup --glyphs block also uses lines and half blocks."
    elif not facts.locale_utf8:
        remedy = "The console uses ASCII; where the terminal draws UTF-8, set LC_ALL=C.UTF-8 for finer charts."
    value = "ascii" if facts.ascii_only else "utf-8"
    yield limited_check(area, "encoding", value, shown, remedy, limited=bool(remedy))
    if facts.around:
        yield Check(area, "reached through", ", ".join(facts.around), ", ".join(facts.around))
