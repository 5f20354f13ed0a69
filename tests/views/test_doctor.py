"""Circumstances judged: each case a sentence, whole checks compared."""

import pytest

from sizeup.model.machine import ControlGroup, Limits, Machine, Platform
from sizeup.model.topology import Pu
from sizeup.views.machine.doctor import (
    Check,
    CheckStatus,
    StoreFacts,
    TerminalFacts,
    access_checks,
    configuration_checks,
    doctor_data,
    doctor_lines,
    load_checks,
    machine_checks,
    probe_checks,
    store_checks,
    terminal_checks,
)

FACTS = {
    "present": True,
    "term": "xterm-256color",
    "columns": 80,
    "rows": 24,
    "colors": 256,
    "no_color": False,
    "locale": "C.UTF-8",
    "locale_utf8": True,
    "ascii_only": False,
    "around": ("SSH",),
}


LATIN = {"locale": "de_DE.ISO-8859-1", "locale_utf8": False, "ascii_only": True}


def terminal(**facts: object) -> dict[str, Check]:
    return {check.name: check for check in terminal_checks(TerminalFacts(**(FACTS | facts)))}


def troubles(checks: list[Check]) -> dict[str, CheckStatus]:
    return {check.name: check.status for check in checks if check.status is not CheckStatus.OK}


def test_a_good_terminal_needs_no_advice() -> None:
    checks = terminal()

    assert {check.name: check.shown for check in checks.values()} == {
        "type": "xterm-256color",
        "size": "80 columns, 24 rows",
        "colors": "256",
        "encoding": "UTF-8 by the locale (C.UTF-8)",
        "reached through": "SSH",
    }
    assert all(check.status is CheckStatus.OK and not check.remedy for check in checks.values())


@pytest.mark.parametrize(
    ("facts", "name", "status", "remedy"),
    [
        ({"present": False}, "type", CheckStatus.UNAVAILABLE, "sizeup --batch does not"),
        ({"term": "dumb"}, "type", CheckStatus.UNAVAILABLE, "set TERM"),
        ({"columns": 79}, "size", CheckStatus.LIMITED, "80 x 24"),
        (LATIN, "encoding", CheckStatus.LIMITED, "LC_ALL=C.UTF-8"),
        ({"colors": 16, "term": "xterm"}, "colors", CheckStatus.OK, "COLORTERM=truecolor"),
    ],
)
def test_what_a_terminal_lacks_is_said_with_what_to_do(
    facts: dict[str, object], name: str, status: CheckStatus, remedy: str
) -> None:
    check = terminal(**facts)[name]

    assert check.status is status
    assert remedy in check.remedy


@pytest.mark.parametrize(
    ("facts", "name", "shown"),
    [
        ({"colors": 0, "no_color": True}, "colors", "none (NO_COLOR is set)"),
        ({"colors": 0, "term": "vt220"}, "colors", "none (by TERM)"),
        ({"colors": 16, "term": "xterm"}, "colors", "16"),
        ({"around": ("tmux", "SSH")}, "reached through", "tmux, SSH"),
    ],
)
def test_nothing_is_said_of_a_terminal_that_nobody_knows(facts: dict[str, object], name: str, shown: str) -> None:
    assert terminal(**facts)[name].shown == shown


def test_the_linux_console_is_told_why_it_gets_ascii() -> None:
    check = terminal(term="linux", ascii_only=True)["encoding"]

    assert check.value == "ascii"
    assert "--glyphs block" in check.remedy


def test_a_service_with_small_shares_is_told_so() -> None:
    pus = tuple(Pu(cpu=cpu, online=True, allowed=cpu < 2) for cpu in range(4))
    group = ControlGroup(cpu_quota=1.5, memory_bytes=1 << 30)
    machine = Machine(pus=pus, platform=Platform(memlock_bytes=65536, control_group=group))
    limits = Limits(frozenset(), open_files=256, aio_requests_max=65536, aio_requests_used=65000,
                    io_uring_disabled=1, perf_event_paranoid=3)  # fmt: skip

    checks = list(access_checks(machine, limits, user=1000))

    assert list(troubles(checks)) == [
        "locked memory", "open files", "asynchronous I/O", "io_uring", "hardware counters", "CPUs", "CPU time", "memory"
    ]  # fmt: skip


def test_rights_lift_limits() -> None:
    machine = Machine(platform=Platform(memlock_bytes=65536))
    limits = Limits(frozenset({14, 38}), 1024, 1 << 20, 0, 0, 4)

    checks = list(access_checks(machine, limits, user=1000))

    assert troubles(checks) == {}
    assert checks[0].shown == "uid 1000, capabilities: ipc_lock, perfmon"
    assert checks[1].shown == "no limit (capability ipc_lock)"


def test_a_slow_clock_source_is_pointed_out() -> None:
    assert troubles(list(machine_checks(Machine(platform=Platform(clock_source="hpet"))))) == {
        "clock source": CheckStatus.LIMITED
    }


def test_files_and_settings_are_named() -> None:
    checks = [
        *store_checks(StoreFacts("/nowhere/sessions", writable=False, free_bytes=1000)),
        *configuration_checks("/etc/sizeup.toml", found=True, unknown_variables=("SIZEUP_PORT",)),
    ]

    assert troubles(checks) == {
        "sessions": CheckStatus.UNAVAILABLE, "free space": CheckStatus.LIMITED, "unknown variables": CheckStatus.LIMITED
    }  # fmt: skip


def test_the_report_fits_eighty_columns_and_says_its_marks_in_words() -> None:
    checks = [
        Check("terminal", "type", "xterm", "xterm"),
        *probe_checks(
            {
                "null": None,
                "io.direct": "needs what only you can say: sizeup --batch -p io.direct --set io.direct.target=... " * 3,
            }
        ),
    ]

    lines = doctor_lines(checks)

    assert max(map(len, lines)) <= 80
    assert lines[:6] == [
        "Terminal",
        "    type               xterm",
        "",
        "Probes",
        "    null               can run",
        "  x io.direct          cannot run",
    ]
    assert lines[-2] == "! works with limits    x does not work here"


def test_programs_get_the_same_with_values_in_base_units() -> None:
    data = doctor_data(store_checks(StoreFacts("/var/s", writable=True, free_bytes=10**12)))

    assert data["schema"] == "sizeup.doctor/1"
    assert data["checks"][1] == {
        "area": "files", "name": "free space", "value": 10**12, "unit": "bytes", "text": "1 TB",
        "status": "ok", "remedy": "",
    }  # fmt: skip


def test_how_busy_the_host_is_stands_with_what_to_do() -> None:
    busy = list(load_checks(3.2, 2, {"cpu": 41.0, "io": None, "memory": 0.0}))
    idle = list(load_checks(0.1, 2, {"cpu": 0.0, "io": 12.0}))

    assert [check.status for check in busy] == [
        CheckStatus.LIMITED,
        CheckStatus.LIMITED,
        CheckStatus.OK,
        CheckStatus.OK,
    ]
    assert [bool(check.remedy) for check in busy] == [True, True, False, False]
    assert [(check.value, check.unit) for check in busy] == [(3.2, ""), (41.0, "%"), (None, "%"), (0.0, "%")]
    assert "unknown" in busy[2].shown
    assert [bool(check.remedy) for check in idle] == [False, False, True]
