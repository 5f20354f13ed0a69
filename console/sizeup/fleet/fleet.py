"""A fleet as one value: a row per host with its figures, and the hosts that stand out among those of their type.

A session file that cannot be read is reported and never fails the whole.
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.comparison import Conclusion
from sizeup.compare.figures import direction
from sizeup.compare.headlines import CARD_ORDER
from sizeup.errors import SizeupError, UsageError
from sizeup.fleet.explanation import PeerDifferences, differences
from sizeup.fleet.host_session import HostFigure, HostFinding, HostSession, read_host_session
from sizeup.fleet.outliers import LEAST_HOSTS, Spread, spread
from sizeup.model.finding import Severity
from sizeup.session.store import SUFFIX
from sizeup.text import plural
from sizeup.units import format_bytes

PARQUET = ".parquet"
SUFFIXES = (SUFFIX, f"{SUFFIX}.gz", PARQUET)
_RARE = 0.1
SAME_MEMORY = 1.04
"""Sizes that follow one another within this ratio are one size; the smallest step between two modules is larger. The
kernel keeps some memory for itself, and how much varies."""
UNKNOWN_TYPE = "machine unknown"


class FileProblem(Struct, frozen=True):
    """A file that could not be read, or only in part."""

    path: str
    problem: str
    read: bool = False
    """Whether the rest of it was used."""


class FleetFiles(Struct, frozen=True):
    """What the files of a fleet contain."""

    sessions: tuple[HostSession, ...]
    problems: tuple[FileProblem, ...]


class HostStatus(Enum):
    """How a host stands; the words are shown, so color is never the only carrier."""

    OUTLIER = "OUTLIER"
    """At least one figure is worse than those of its peers."""
    NO_RESULT = "NO RESULT"
    """Nothing was measured."""
    NOT_VALID = "NOT VALID"
    """No figure is valid."""
    FINDING = "FINDING"
    """Discovery found a problem that hardly any of its peers has."""
    UNDECIDED = "UNDECIDED"
    """A figure is far from those of its peers, but did not converge, so that it may be like them."""
    BETTER = "BETTER"
    """At least one figure is far from those of its peers, and none is worse."""
    NOT_COMPARED = "NOT COMPARED"
    """No figure has enough peers."""
    OK = "OK"


class MachineType(Struct, frozen=True):
    """What hosts have in common whose figures can be compared."""

    name: str
    """``PowerEdge R650, Xeon Gold 6430, 2 sockets, 64 cores, 512 GiB``."""
    family: tuple[str, str]
    """Product and CPU: hosts of one family may differ in what was ordered, or in what has failed."""


class Outlier(Struct, frozen=True):
    """One figure of one host that stands out."""

    figure: HostFigure
    peers: int
    """Hosts that it was compared with."""
    median: float
    """Of all hosts of the type."""
    conclusion: Conclusion
    """``BETTER``, ``WORSE``, ``HIGHER`` or ``LOWER``."""
    differences: PeerDifferences = PeerDifferences()

    @property
    def ratio(self) -> float:
        """Return how many times the median it is."""
        return self.figure.value / self.median

    @property
    def distance(self) -> float:
        """Return how far from the median it is, half as far as twice."""
        return abs(math.log(self.figure.value) - math.log(self.median))


class Host(Struct, frozen=True):
    """One host with the newest valid figure of each probe and workload."""

    name: str
    type: MachineType
    compared_as: MachineType
    """The type of its peers: its own, or with too few hosts of that the largest of its family."""
    sessions: tuple[HostSession, ...]
    """The newest first."""
    figures: Mapping[str, HostFigure]
    """What is shown, by name."""
    other_workload: frozenset[str]
    """Names of figures that were measured with other settings than most hosts of the type used."""
    outliers: tuple[Outlier, ...] = ()
    status: HostStatus = HostStatus.OK
    findings: tuple[HostFinding, ...] = ()
    """Of the newest session, what hardly any of its peers has."""


class Fleet(Struct, frozen=True):
    """Hosts in the order of their names."""

    hosts: tuple[Host, ...]
    names: tuple[str, ...]
    """The figures that any host has, in the order of their cards."""
    spreads: Mapping[tuple[str, str], Spread]
    """By the name of the type and that of the figure."""
    problems: tuple[FileProblem, ...] = ()

    @property
    def types(self) -> dict[str, list[Host]]:
        """Return the hosts of each machine type, the most frequent type first."""
        found: dict[str, list[Host]] = defaultdict(list)
        for host in self.hosts:
            found[host.type.name].append(host)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def title(self, name: str) -> str:
        """Return the title of a figure."""
        return next(host.figures[name].title for host in self.hosts if name in host.figures)


def fleet_paths(arguments: Sequence[str]) -> list[str]:
    """Return the session files that arguments name: files, patterns, and directories with all below them."""
    found: dict[str, None] = {}
    for argument in arguments:
        named = [argument]
        if not os.path.exists(argument):
            if not glob.has_magic(argument):
                problem = "no such file or directory; name session files or a directory that has some"
                raise UsageError(f"{argument}: {problem}")
            named = sorted(glob.glob(argument, recursive=True))
        paths = [path for name in named for path in (_below(name) if os.path.isdir(name) else (name,))]
        if not paths:
            raise UsageError(
                f"{argument}: expected session files (*{SUFFIX}, *{SUFFIX}.gz) or Parquet of a fleet (*{PARQUET}), "
                "found none"
            )
        found.update(dict.fromkeys(paths))
    return list(found)


def _below(folder: str) -> Iterator[str]:
    def refused(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot list this directory: {error.strerror}") from error

    for where, folders, names in os.walk(folder, onerror=refused):
        folders.sort()
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(SUFFIXES))


def read_fleet(paths: Iterable[str]) -> FleetFiles:
    """Read one file after the other, so that memory holds the samples of at most one session."""
    sessions, problems = [], []
    for path in paths:
        try:
            if path.endswith(PARQUET):
                from sizeup.fleet.parquet import read_parquet

                found = read_parquet(path)
            else:
                found = [read_host_session(path)]
        except SizeupError as error:
            problems.append(FileProblem(path, str(error).removeprefix(f"{path}: ")))
            continue
        except OSError as error:
            problems.append(FileProblem(path, error.strerror or str(error)))
            continue
        sessions += found
        problems += (FileProblem(one.path, sentence, read=True) for one in found for sentence in one.damage)
    return FleetFiles(tuple(sessions), tuple(problems))


def build_fleet(files: FleetFiles) -> Fleet:
    """Return the fleet that these files describe."""
    by_host = _by_host(files.sessions)
    types = _machine_types({name: _described(sessions) for name, sessions in by_host.items()})
    numbers = Counter(types.values())
    largest: dict[tuple[str, str], MachineType] = {}
    for found, count in numbers.most_common():
        if count >= LEAST_HOSTS and found.name != UNKNOWN_TYPE:
            largest.setdefault(found.family, found)
    peers = {
        name: found if numbers[found] >= LEAST_HOSTS else largest.get(found.family, found)
        for name, found in types.items()
    }
    usual = _usual_workloads(by_host, types)
    hosts = [
        _host(name, types[name], peers[name], sessions, usual)
        for name, sessions in sorted(by_host.items(), key=lambda item: _natural_key(item[0]))
    ]
    cards: dict[str, str] = {}
    counting: dict[tuple[str, str], list[HostFigure]] = defaultdict(list)
    for host in hosts:
        for name, figure in host.figures.items():
            cards.setdefault(figure.name, figure.card)
            if usable(figure) and name not in host.other_workload:
                counting[host.type.name, name].append(figure)
    spreads = {
        key: spread([one.value for one in each], [one.interval for one in each if one.interval is not None])
        for key, each in counting.items()
    }
    rare = _rare_findings(hosts)
    judged = tuple(
        _judged(replace(host, findings=(*_lost_parts(host, hosts), *rare.get(host.name, ()))), hosts, spreads)
        for host in hosts
    )
    names = sorted(cards, key=lambda name: CARD_ORDER.get(cards[name], len(CARD_ORDER)))
    return Fleet(judged, tuple(names), spreads, files.problems)


def usable(figure: HostFigure) -> bool:
    """Whether a figure counts; one that did not converge does, as the scatter between hosts shows by how much."""
    return not figure.invalid and figure.value > 0


def _natural_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts db9 before db10."""
    return [
        (int(word), "") if word.isdecimal() and len(word) < 10 else (-1, word) for word in re.findall(r"\d+|\D+", name)
    ]


def _by_host(sessions: Sequence[HostSession]) -> dict[str, list[HostSession]]:
    """Return the sessions of each host, the newest first; hosts of one name on other hardware are other hosts."""
    hardware: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    found: dict[str, list[HostSession]] = defaultdict(list)
    for session in sorted(sessions, key=lambda one: (one.when or 0.0, one.path), reverse=True):
        of_name = hardware[session.host]
        key = (session.model, session.cpu_model)
        if not session.packed_machine and of_name:
            key = next(iter(of_name))
        name = of_name.setdefault(key, f"{session.host} #{len(of_name) + 1}" if of_name else session.host)
        found[name].append(session)
    return found


def _machine_types(sessions: Mapping[str, HostSession]) -> dict[str, MachineType]:
    """Return the type of each host: the same product, CPU and amount of memory, the middle one of like ones."""
    groups: dict[tuple[str, str], set[int]] = defaultdict(set)
    for session in sessions.values():
        if session.memory_bytes:
            groups[session.model, session.cpu_model].add(session.memory_bytes)
    named: dict[tuple[str, str, int], int] = {}
    for family, sizes in groups.items():
        run: list[int] = []
        for size in [*sorted(sizes), 0]:
            if run and not run[-1] <= size <= run[-1] * SAME_MEMORY:
                named.update({(*family, one): run[len(run) // 2] for one in run})
                run = []
            run.append(size)
    found = {}
    for host, session in sessions.items():
        memory = session.memory_bytes and format_bytes(named[session.model, session.cpu_model, session.memory_bytes])
        parts = (
            session.model,
            session.cpu_model or "CPU unknown",
            session.sockets and plural(session.sockets, "socket"),
            session.cores and plural(session.cores, "core"),
            memory or "memory unknown",
        )
        kind = MachineType(", ".join(str(part) for part in parts if part), (session.model, session.cpu_model))
        found[host] = kind if session.packed_machine else MachineType(UNKNOWN_TYPE, ("", ""))
    return found


_FigureOf = tuple[tuple[str, str], str]
"""A family of machine types, and the name of a figure."""


def _usual_workloads(
    by_host: Mapping[str, Sequence[HostSession]], types: Mapping[str, MachineType]
) -> dict[_FigureOf, str]:
    """Return the workload that most hosts of a family have a valid figure of; of equally many the newest."""
    hosts: dict[_FigureOf, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for host, sessions in by_host.items():
        for figure in (figure for session in sessions for figure in session.figures if usable(figure)):
            newest = hosts[types[host].family, figure.name][figure.workload]
            newest[host] = max(newest.get(host, 0.0), figure.when or 0.0)
    return {
        key: max(workloads, key=lambda one: (len(workloads[one]), max(workloads[one].values())))
        for key, workloads in hosts.items()
    }


def _host(
    name: str, kind: MachineType, peers: MachineType, sessions: Sequence[HostSession], usual: Mapping[_FigureOf, str]
) -> Host:
    figures: dict[str, HostFigure] = {}
    for session in sessions:
        for figure in session.figures:
            known, workload = figures.get(figure.name), usual.get((kind.family, figure.name))
            if known is None or _rank(figure, workload) > _rank(known, workload):
                figures[figure.name] = figure
    others = (
        one.name for one in figures.values() if usable(one) and one.workload != usual.get((kind.family, one.name))
    )
    return Host(name, kind, peers, tuple(sessions), figures, frozenset(others))


def _rank(figure: HostFigure, usual: str | None) -> tuple[bool, bool, float]:
    """Return what the figure that is shown has most of: that it is valid, of the usual workload, then its time."""
    return usable(figure), figure.workload == usual, figure.when or 0.0


def _rare_findings(hosts: Sequence[Host]) -> dict[str, tuple[HostFinding, ...]]:
    """Return the findings of each host that at most a tenth of its peers, or one host alone, has."""
    counts: Counter[tuple[str, str]] = Counter()
    sizes = Counter(host.compared_as.name for host in hosts)
    for host in hosts:
        counts.update((host.compared_as.name, id_) for id_ in {one.id for one in host.sessions[0].findings})
    found = {}
    for host in hosts:
        name = host.compared_as.name
        most = 0 if sizes[name] < LEAST_HOSTS else max(1, int(_RARE * sizes[name]))
        found[host.name] = tuple(one for one in host.sessions[0].findings if counts[name, one.id] <= most)
    return found


def _lost_parts(host: Host, hosts: Sequence[Host]) -> tuple[HostFinding, ...]:
    """Return of what a host has less than those of another type that it is compared with, for lack of like ones."""
    if host.type == host.compared_as:
        return ()
    peers = [_described(other.sessions) for other in hosts if other.type == host.compared_as]
    ours, theirs, count = _described(host.sessions), peers[0], plural(len(peers), "like host")
    found = []
    for name, mine, usual, tolerance, text in (
        ("memory", ours.memory_bytes, theirs.memory_bytes, SAME_MEMORY, format_bytes),
        ("sockets", ours.sockets, theirs.sockets, 1.0, str),
        ("cores", ours.cores, theirs.cores, 1.0, str),
    ):
        if mine is not None and usual is not None and mine * tolerance < usual:
            title = f"{name.capitalize()}: {text(mine)}; {count} with {text(usual)}"
            found.append(HostFinding(f"fleet.less-{name}", Severity.WARNING, title))
    return tuple(found)


def _described(sessions: Sequence[HostSession]) -> HostSession:
    """Return the newest session that says what the machine is."""
    return next((session for session in sessions if session.packed_machine), sessions[0])


def _judged(host: Host, hosts: Sequence[Host], spreads: Mapping[tuple[str, str], Spread]) -> Host:
    found = []
    compared = undecided = False
    for name, figure in host.figures.items():
        limits = spreads.get((host.compared_as.name, name))
        if limits is None or limits.hosts < LEAST_HOSTS or not usable(figure) or name in host.other_workload:
            continue
        compared = True
        if limits.stands_out(figure.value, figure.interval if figure.scatter else None):
            peers = [
                other
                for other in hosts
                if other.name != host.name
                and other.compared_as == host.compared_as
                and (theirs := other.figures.get(name)) is not None
                and usable(theirs)
                and name not in other.other_workload
                and not limits.stands_out(theirs.value, theirs.interval if theirs.scatter else None)
            ]
            conclusion = direction(figure.value / limits.median, figure.better)
            differs = differences(figure, host.sessions, [(peer.sessions, peer.figures[name]) for peer in peers])
            found.append(Outlier(figure, len(peers), limits.median, conclusion, differs))
        elif figure.scatter and (limits.stands_out(figure.value) or limits.is_far(figure.value)):
            undecided = True
    found.sort(key=lambda one: (one.conclusion is not Conclusion.WORSE, -one.distance))
    return replace(host, outliers=tuple(found), status=_status(host, found, compared=compared, undecided=undecided))


def _status(host: Host, outliers: Sequence[Outlier], *, compared: bool, undecided: bool) -> HostStatus:
    if any(outlier.conclusion is Conclusion.WORSE for outlier in outliers):
        return HostStatus.OUTLIER
    if not host.figures:
        return HostStatus.NO_RESULT
    if host.findings:
        return HostStatus.FINDING
    if not any(map(usable, host.figures.values())):
        return HostStatus.NOT_VALID
    if undecided:
        return HostStatus.UNDECIDED
    if outliers:
        return HostStatus.BETTER
    return HostStatus.OK if compared else HostStatus.NOT_COMPARED
