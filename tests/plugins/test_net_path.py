"""The path to another host, measured over loopback with a stand-in for ssh; the peer serves nobody else and ends."""

import ast
import contextlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from fakes import HandContext
from remote.ssh_stand_in import make_ssh
from remote.target_host import until
from sizeup import cli
from sizeup.child_process import environment, python_command
from sizeup.errors import SizeupError, UsageError
from sizeup.model.machine import Gap, Machine
from sizeup.model.network import NfsMount
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate, Samples
from sizeup.probing.api import Emission
from sizeup.probing.manifest import parse_value
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import resolve, used
from sizeup.procfs.process import read_scheduling
from sizeup.session.reader import read_session
from sizeup_net import measure, peer, probe
from sizeup_net.link import PeerLink
from sizeup_net.probe import NetPath
from terminal import PATIENCE_SECONDS
from tiers import one_in

MANIFEST = load_registry().get("net.path").manifest
HERE = "127.0.0.1"
DENIED = "dba@db02: Permission denied (publickey)."
ENDED = (
    "dba@db02: the connection by ssh has ended (exit status {}); expected that this asks nothing and prints at least "
    "Python 3.6: ssh -o BatchMode=yes dba@db02 python3 -V"
)
NO_ADDRESS = (
    "dba@db02: cannot listen on TCP port (any) of an address that is named, or of that in SSH_CONNECTION; name a free "
    "port= and an address= that ip address prints there"
)


@pytest.fixture(autouse=True)
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a stand-in for ssh into PATH, whose host is this one; a test may make another."""

    def made(name: str, **options: str) -> None:
        folder = Path(make_ssh(tmp_path / name, **options)).parent
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    monkeypatch.setenv("SSH_CONNECTION", f"{HERE} 50000 {HERE} 22")
    made("bin")
    return made


def plan(machine: Machine = Machine(), plan_name: str = "standard", **chosen: object) -> Step:  # noqa: B008
    settings = resolve(MANIFEST, plan_name, {"host": "dba@db02", "seconds": 0.2, **chosen})  # type: ignore[dict-item]
    (step,) = NetPath().plan(machine, used(MANIFEST, settings))
    return step


def run(step: Step, context: HandContext | None = None) -> list[Emission]:
    return list(NetPath().run(step, context or HandContext()))


def estimates(emissions: list[Emission]) -> list[Estimate]:
    return [one for one in emissions if isinstance(one, Estimate)]


@pytest.fixture
def link() -> Iterator[PeerLink]:
    started = PeerLink(plan().settings, [], 60.0)
    with started.process:
        yield started


def answered(connection: socket.socket) -> bytes:
    """What a connection gets until it is closed."""
    connection.settimeout(PATIENCE_SECONDS)
    try:
        return connection.recv(100)
    except ConnectionError:
        return b""


# What is measured


def test_every_series_is_measured_in_both_directions() -> None:
    emissions = run(plan(streams=2))

    found = {
        (one.series, *(one.at.get(name) for name in ("direction", "streams", "side"))) for one in estimates(emissions)
    }
    pairs = [(direction, streams) for direction in ("send", "receive") for streams in (1, 2)]
    assert found == {
        ("round-trip-p50", None, None, None), ("round-trip-p99", None, None, None),
        ("retransmits", "round trip", 1, None), ("mtu", "send", None, None), ("mtu", "receive", None, None),
        *(("rate", *pair, None) for pair in pairs), *(("retransmits", *pair, None) for pair in pairs),
        *(("cpu", *pair, side) for pair in pairs for side in ("here", "peer")),
    }  # fmt: skip
    assert {one.at["peer_address"] for one in estimates(emissions)} == {HERE}
    live = {(one.series, one.at.get("direction")) for one in emissions if isinstance(one, Samples)}
    assert live == {("round-trip-p50", None), ("round-trip-p99", None), ("rate", "send"), ("rate", "receive")}
    for one in estimates(emissions):
        if one.series in ("round-trip-p50", "rate", "mtu"):
            assert one.value > 0
        if one.p10 is not None and one.series == "rate":
            assert one.minimum <= one.p10 <= one.p90  # type: ignore[operator]


@pytest.mark.ci
def test_a_round_trip_says_how_much_of_it_the_programs_took(link: PeerLink, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 s of the host of one and 2 s of that of the other outside of their kernels, in 200,000 round trips: 25 us."""
    (endpoint,) = link.listening()
    users = iter([1.0, 6.0])
    monkeypatch.setattr(measure, "_user_seconds", lambda _: next(users))
    monkeypatch.setattr(measure, "_trips", lambda *_: time.sleep(1.0) or [20_000] * 200_000)

    found = list(measure.round_trips(link, endpoint, {}, 64, 1.0, HandContext()))

    of_half = next(one for one in found if isinstance(one, Estimate) and one.series == "round-trip-p50")
    assert of_half.extra["program_ns"] == pytest.approx(25_000, rel=0.01)
    assert str(of_half.extra["note"]).endswith("of it this program")
    monkeypatch.undo()
    own = resource.getrusage(resource.RUSAGE_THREAD).ru_utime
    before, start = measure._user_seconds(link), time.thread_time()
    assert before - own > 0.005, "the peer has started Python"
    sum(range(20_000_000))
    assert measure._user_seconds(link) - before >= 0.5 * (time.thread_time() - start)


@pytest.mark.ci
def test_the_figures_are_those_of_the_connection(link: PeerLink) -> None:
    (endpoint,) = link.listening()
    at = {"direction": "send", "streams": 2}
    before = time.process_time()

    found = list(measure.transfer(link, endpoint, at, 0.3, 0, HandContext()))

    spent = time.process_time() - before
    rates = [one.values[0] for one in found if isinstance(one, Samples)]
    by_series = {(one.series, one.at.get("side")): one for one in found if isinstance(one, Estimate)}
    rate = by_series["rate", None]
    assert min(rates) == rate.minimum
    assert min(rates) <= rate.value <= max(rates)
    cpu = by_series["cpu", "here"].value * rate.value * 0.3 / 1e18
    assert 0 < cpu <= spent * 1.01
    assert by_series["cpu", "peer"].value > 0
    assert by_series["retransmits", None].extra["segments"] > rate.value * 0.3 / 66_000  # type: ignore[operator]


@pytest.mark.ci
def test_cpu_time_is_that_of_a_billion_bytes(link: PeerLink, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.5 s of 4 s of this host and 0.1 s of 1 s of the other, in 1,000 bytes a window."""
    used, moved = iter([(1.0, 10.0, 2.0, 20.0), (1.5, 14.0, 2.1, 21.0)]), count(0, 1000)
    monkeypatch.setattr(measure, "_cpu_seconds", lambda _: next(used))
    monkeypatch.setattr(measure, "_mark", lambda *_: (time.perf_counter(), next(moved)))
    (endpoint,) = link.listening()
    found = estimates(
        list(measure.transfer(link, endpoint, {"direction": "send", "streams": 1}, 0.2, 0, HandContext()))
    )

    windows = next(one.replicates for one in found if one.series == "rate")
    assert windows is not None
    costs = [(one.at["side"], one.value, one.extra["host_busy_ns"]) for one in found if one.series == "cpu"]
    assert [(side, *(cost * windows * 1000 / 1e9 for cost in both)) for side, *both in costs] == [
        ("here", pytest.approx(0.5e9), pytest.approx(4e9)),
        ("peer", pytest.approx(0.1e9), pytest.approx(1e9)),
    ]


def test_what_has_arrived_is_counted_and_not_what_waits_in_a_buffer() -> None:
    listener = socket.create_server((HERE, 0))
    sender = socket.create_connection(listener.getsockname())
    receiver, _ = listener.accept()
    with listener, sender, receiver:
        sender.sendall(bytes(100_000))
        assert len(receiver.recv(100_000, socket.MSG_WAITALL)) == 100_000
        until(lambda: peer.tcp_counters(sender)[2] >= 100_000)

        sent, again, acknowledged, received = peer.tcp_counters(receiver)
        assert (again, received) == (0, 100_000)
        assert acknowledged < 10
        assert 1 <= sent <= 100
        assert peer.tcp_counters(sender)[2] in (100_000, 100_001)


@pytest.mark.parametrize("direction", one_in(2, ["send", "receive"]))
def test_a_limit_holds_for_all_streams_together(direction: str, link: PeerLink) -> None:
    (endpoint,) = link.listening()
    at = {"direction": direction, "streams": 4}

    found = list(measure.transfer(link, endpoint, at, 0.5, 4_000_000, HandContext()))

    (rate,) = [one.value for one in found if isinstance(one, Estimate) and one.series == "rate"]
    assert rate < 6_000_000


def test_quantiles_are_taken_from_the_ordered_figures() -> None:
    assert [measure.quantile(range(100), share) for share in (0.0, 0.1, 0.5, 0.99, 1.0)] == [0, 10, 50, 99, 99]


# Paths that are broken


class HoleLink:
    """A path on which packets above a size get lost, in one direction."""

    def __init__(self, passing: int, *, sending: bool) -> None:
        self._passing, self._sending = passing, sending

    def connect(self, endpoint: object, job: str, *, size: int, segment: int) -> socket.socket:
        listener = socket.create_server((HERE, 0))
        connection = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
        listener.close()
        lost = (segment or 1 << 20) + 40 > self._passing and (job == "sink") == self._sending
        threading.Thread(target=self._serve, args=(other, "sink", 0) if lost else (other, job, size)).start()
        return connection

    @staticmethod
    def _serve(connection: socket.socket, job: str, size: int) -> None:
        with connection:
            peer.run_job(connection, job, size)


@pytest.mark.ci
@pytest.mark.parametrize("sending", [True, False])
@pytest.mark.parametrize(("passing", "largest"), [(1410, 1400), (500, 0)])
def test_a_hole_in_the_path_is_found_with_the_size_that_passes(
    *, passing: int, largest: int, sending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "BULK_SECONDS", 1)
    path = HoleLink(passing, sending=sending)

    mtu, found = measure.passing_packets(path, (HERE, 1), sending=sending)  # type: ignore[arg-type]

    assert (mtu > 1500, found) == (True, largest)
    assert measure.passing_packets(path, (HERE, 1), sending=not sending) == (mtu, mtu)  # type: ignore[arg-type]


def test_a_hole_is_named_and_nothing_large_is_sent_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "passing_packets", lambda *_, sending: (1500, 1400 if sending else 1500))

    emissions = run(plan())

    broken, sound = [one for one in estimates(emissions) if one.series == "mtu"]
    assert broken.extra["statement"] == (
        f"Large packets to {HERE} get lost: packets of 1400 bytes pass, those of 1500 bytes (path MTU) do not"
    )
    assert (broken.value, broken.extra["severity"], "statement" in sound.extra) == (1400, "critical", False)
    assert [one.subject for one in emissions if isinstance(one, Gap)] == [f"net.path: throughput to {HERE}"]
    assert "rate" not in {one.series for one in estimates(emissions)}


def point(series: str, value: float, **at: str | int) -> Estimate:
    where = {"peer_address": "10.0.0.2", "direction": "send", "streams": 1, **at}
    return Estimate(series, where, value, extra={"segments": 1000, "sent_again": 1})


@pytest.mark.parametrize(
    ("rates", "shares", "capped", "statements"),
    [
        ((400e6, 630e6), (0.0, 0.0009), False, []),
        ((400e6, 630e6), (0.0, 0.001), False, ["0.1 % of the packets on the path to 10.0.0.2 get lost"]),
        ((400e6, 620e6), (0.02, 0.01), True, ["2 % of the packets on the path to 10.0.0.2 get lost"]),
        ((400e6, 620e6), (), False, ["The path to 10.0.0.2 delivers 620 MB/s, 50 % of the 1.25 GB/s of eth1"]),
        ((), (), False, []),
    ],
)
def test_loss_and_a_slow_path_are_named(
    rates: tuple[float, ...], shares: tuple[float, ...], *, capped: bool, statements: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(probe, "_interface", lambda address: ("eth1", 1.25e9))
    found = [point("rate", value, streams=at) for at, value in enumerate(rates)]
    found += [point("retransmits", value, streams=at) for at, value in enumerate(shares)]

    named = list(probe._findings(found, capped=capped))

    assert [one.extra["statement"] for one in named] == statements
    assert all(
        any((one.series, one.at, one.value) == (old.series, old.at, old.value) for old in found) for one in named
    )


def test_the_interface_is_the_one_of_the_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {"lo": SimpleNamespace(speed=100)})
    assert probe._interface(HERE) == ("lo", 12_500_000.0)
    monkeypatch.setattr(psutil, "net_if_addrs", dict)
    assert probe._interface(HERE) == ("", 0.0)


# What is planned


def test_the_addresses_are_those_of_the_mounts_unless_some_are_named() -> None:
    mounts = (NfsMount("/a", "x:/a", address="10.1.1.1"), NfsMount("/b", "x:/b", address="10.1.1.2"),
              NfsMount("/c", "x:/c", address="10.1.1.1"), NfsMount("/d", "x:/d"))  # fmt: skip
    machine = Machine(nfs_mounts=mounts)

    assert plan(machine).settings["address"] == "10.1.1.1,10.1.1.2"
    assert not plan(machine).settings["named"]
    assert plan(machine, address="10.9.9.9").settings["address"] == "10.9.9.9"
    assert plan(machine, address="10.9.9.9").settings["named"]


@pytest.mark.parametrize(
    ("plan_name", "chosen", "load"),
    [
        ("quick", {}, "small messages alone"),
        ("standard", {}, "up to 4 TCP streams at full speed for 17 s"),
        ("standard", {"limit_mbit_s": 100.0, "streams": 1}, "up to 1 TCP streams of 100 Mbit/s together for 10 s"),
    ],
)
def test_the_load_is_said_before_the_run(plan_name: str, chosen: dict[str, object], load: str) -> None:
    step = plan(plan_name=plan_name, **{"seconds": 3.0, **chosen})

    assert step.touches == f"the network path to dba@db02: {load} per address"
    assert step.title == "Network path to dba@db02"
    assert 3.0 < step.estimated_seconds < step.time_limit_seconds


@pytest.mark.ci
def test_addresses_of_other_hosts_are_left_to_them(link: PeerLink) -> None:
    named = plan(address="192.0.2.1,127.0.0.2,127.0.0.3")
    several = {
        one.at["peer_address"] for one in estimates(run(plan(plan_name="quick", address=named.settings["address"])))
    }

    assert several == {"127.0.0.2", "127.0.0.3"}
    assert [address for address, _ in link.listening()] == [HERE]
    with pytest.raises(SizeupError, match=r"cannot listen on TCP port \(any\) of an address that is named"):
        run(plan(address="192.0.2.1"))


@pytest.mark.ci
def test_an_address_that_cannot_be_reached_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    listening = PeerLink.listening
    monkeypatch.setattr(PeerLink, "listening", lambda self: [("127.0.0.2", 1), *listening(self)])

    emissions = run(plan(plan_name="quick"))

    (gap,) = [one for one in emissions if isinstance(one, Gap)]
    assert gap.subject == "net.path: 127.0.0.2"
    assert gap.reason.startswith("127.0.0.2: TCP port 1, where the peer listens, cannot be reached from here (Conn")
    assert gap.reason.endswith("; let it through the firewalls, or name an open port: port=")
    assert {one.at["peer_address"] for one in estimates(emissions)} == {HERE}


# The peer


@pytest.mark.ci
@pytest.mark.parametrize(
    "said", [b"", b"x" * 300, b"0" * 64 + b' {"job": "source", "bytes": 9, "number": 1, "rate": 0}']
)
def test_a_stranger_gets_nothing(said: bytes, link: PeerLink) -> None:
    (endpoint,) = link.listening()
    with socket.create_connection(endpoint) as stranger:
        stranger.sendall(said.ljust(256) if said else b"")

        assert answered(stranger) == b""


@pytest.mark.ci
def test_strangers_do_not_keep_the_run_out(link: PeerLink) -> None:
    (endpoint,) = link.listening()
    with contextlib.ExitStack() as stack:
        strangers = [stack.enter_context(socket.create_connection(endpoint)) for _ in range(3 * peer.MOST_PENDING)]
        for stranger in strangers:
            with contextlib.suppress(ConnectionError):  # ended already, for one that came later
                stranger.sendall(b"half of a header")

        with link.connect(endpoint, "echo", size=5) as connection:
            connection.sendall(b"hello")
            assert connection.recv(5, socket.MSG_WAITALL) == b"hello"
        assert [answered(stranger) for stranger in strangers] == [b""] * len(strangers)


@pytest.fixture
def accepting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[socket.socket], None]]:
    """Have a listener served in this process; the token is ``t``, a header may take long, the test's end ends it."""

    def end(_status: int) -> None:
        raise EOFError

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(EOFError):
            peer.Peer("t").serve([listener])

    monkeypatch.setattr(peer, "PENDING_SECONDS", 600)
    monkeypatch.setattr(peer, "os", SimpleNamespace(read=lambda descriptor, size: b"", write=os.write, _exit=end))
    reading, writing = os.pipe()
    with os.fdopen(reading) as standard_input, contextlib.ExitStack() as stack:
        monkeypatch.setattr(peer, "sys", SimpleNamespace(stdin=standard_input))

        def start(listener: socket.socket) -> None:
            listener.listen(128)
            serving = threading.Thread(target=serve, args=(stack.enter_context(listener),))
            serving.start()
            stack.callback(serving.join)
            stack.callback(os.close, writing)

        yield start


def test_of_strangers_that_say_nothing_the_oldest_has_to_go(
    accepting: Callable[[socket.socket], None],
) -> None:
    """Over a socket without a port: nobody else comes to it, and it accepts in the order of the calls."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")  # the kernel chooses an abstract name
    accepting(listener)
    with contextlib.ExitStack() as stack:
        strangers = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(peer.MOST_PENDING + 1)]
        for stranger in strangers:
            stranger.connect(listener.getsockname())

        assert answered(strangers[0]) == b""
        strangers[1].setblocking(False)
        with pytest.raises(BlockingIOError):
            strangers[1].recv(1)


def test_strangers_that_have_gone_take_no_place_of_the_run(accepting: Callable[[socket.socket], None]) -> None:
    """Each ends with a reset, as one does that is ended from outside."""
    listener = socket.create_server((HERE, 0))
    accepting(listener)
    for _ in range(peer.MOST_PENDING):
        with socket.create_connection(listener.getsockname()) as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with socket.create_connection(listener.getsockname()) as run_of_ours:
        job = {"job": "sink", "bytes": 1, "number": 1, "rate": 0}
        run_of_ours.sendall(f"t {json.dumps(job)}".encode().ljust(peer.HEADER_BYTES) + b"x")

        assert answered(run_of_ours) == b"k"


def gone(link: PeerLink, endpoint: tuple[str, int]) -> None:
    link.process.wait(PATIENCE_SECONDS)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(endpoint)


@pytest.mark.ci
def test_the_peer_ends_with_its_input(link: PeerLink) -> None:
    (endpoint,) = link.listening()
    with link.connect(endpoint, "source"):
        link._in.close()

        gone(link, endpoint)


@pytest.mark.ci
def test_the_peer_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    link = PeerLink(plan().settings, [], 0.0)
    with link.process:
        (endpoint,) = link.listening()

        gone(link, endpoint)
        assert link.process.returncode in (-signal.SIGALRM, 128 + signal.SIGALRM)
        with pytest.raises(SizeupError, match=r"db02: the connection by ssh has ended \(exit status .*python3 -V"):
            link.counters(1)


def test_the_peer_ends_when_the_one_who_measures_is_killed(tmp_path: Path, ssh: Callable[..., None]) -> None:
    ssh("traced", before=f'echo $$ > "{tmp_path}/pid"')
    start = f"link = PeerLink({dict(plan().settings)!r}, [], 60.0); link.listening(); print('on', flush=True)"
    code = f"import sys; from sizeup_net.link import PeerLink; {start}; sys.stdin.read()"
    worker = subprocess.Popen(
        python_command(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), start_new_session=True
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    with worker:
        assert worker.stdout.readline() == b"on\n"
        there = int((tmp_path / "pid").read_text())
        os.kill(worker.pid, signal.SIGKILL)

        until(lambda: has_ended(there))


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has waited for."""
    return all(state == "Z" for state, _ in read_scheduling(pid).values())


def killed_at(series: str, step: Step, end: Callable[[], object], context: HandContext) -> None:
    """Run a step, and end something once a series has samples."""
    for emission in NetPath().run(step, context):
        if isinstance(emission, Samples) and emission.series == series:
            end()


@pytest.mark.ci
@pytest.mark.parametrize("series", ["round-trip-p99", "rate"])
def test_a_peer_that_is_killed_fails_the_step(series: str, monkeypatch: pytest.MonkeyPatch) -> None:
    links, listening = list[PeerLink](), PeerLink.listening
    monkeypatch.setattr(PeerLink, "listening", lambda self: (links.append(self), listening(self))[1])

    with pytest.raises(
        SizeupError, match=r"db02: the connection by ssh has ended \(exit status .*; expected that this asks"
    ):
        killed_at(series, plan(seconds=1.0), lambda: links[0].process.kill(), HandContext())


@pytest.mark.ci
def test_a_canceled_step_ends_the_peer() -> None:
    context = HandContext()

    with pytest.raises(SizeupError):
        killed_at("round-trip-p50", plan(seconds=60.0), context.cancel, context)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"before": f"echo '{DENIED}' >&2; exit 255"}, ENDED.format(f"255: {DENIED}")),
        ({"python": "#!/bin/sh\n[ $1 = -V ] && echo Python 3.5.3; exit 1\n"}, ENDED.format("69: Python 3.5.3")),
        ({"before": "echo Welcome; echo to db02; unset SSH_CONNECTION"}, NO_ADDRESS),
    ],
)
def test_a_host_that_cannot_take_part_says_why(options: dict[str, str], words: str, ssh: Callable[..., None]) -> None:
    ssh("other", **options)

    with pytest.raises(SizeupError) as error:
        run(plan())

    assert str(error.value) == words


def test_the_peer_runs_on_an_old_python_and_tells_its_host_no_secret(tmp_path: Path, ssh: Callable[..., None]) -> None:
    source = Path(peer.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__" not in source
    ssh("traced", before=f'echo "$@" > "{tmp_path}/arguments"')
    link = PeerLink(plan().settings, [], 60.0)
    with link.process:
        link.listening()

    assert link._token not in (tmp_path / "arguments").read_text()
    assert "-oBatchMode=yes" in (tmp_path / "arguments").read_text()


# The command


@pytest.mark.ci
def test_the_command_measures_the_host_and_adds_to_a_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "session")
    options = ["--plan", "quick", "--set", "net.path.seconds=0.2"]

    assert cli.run(["net", "dba@db02", *options, "-o", path]) == 0
    assert cli.run(["net", "dba@db02", *options, "--append", path, "--json", "-q"]) == 0

    printed = capsys.readouterr()
    assert "net.path touches the network path to the host that you name, at full speed" in printed.err
    first, second = read_session(path).steps.values()
    assert (first.step.settings["host"], first.finished, second.finished) == ("dba@db02", True, True)
    assert {point.at["peer_address"] for point in first.points.values()} == {HERE}
    assert json.loads(printed.out[printed.out.index("\n{") :])


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "", "a b"])
def test_what_is_no_host_is_refused(host: str) -> None:
    setting = next(one for one in MANIFEST.parameter if one.name == MANIFEST.peer_setting)

    with pytest.raises(UsageError, match=r"expected \[USER@\]HOST, as for ssh"):
        parse_value(setting, host, "--set net.path.host")
