"""The three measurements of a path: round trips, transfers, and the size of the packets that pass."""

from __future__ import annotations

import os
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import pairwise

from sizeup.errors import SizeupError
from sizeup.model.sample import Coordinates, Estimate, Samples
from sizeup.probing.api import Context
from sizeup.procfs.stat import read_stat
from sizeup.units import format_ns
from sizeup_net.link import Endpoint, PeerLink
from sizeup_net.peer import run_job, set_timeout, tcp_counters

WINDOW_SECONDS = 0.1
WARM_SECONDS = 0.5  # before a transfer is counted: TCP finds the speed of the path
STALL_SECONDS = 5  # without an answer to a small message, which TCP has sent four times by then
BULK_BYTES, BULK_SECONDS = 1 << 16, 3
"""What passes in that time unless packets of its size do not; a few may get lost."""
PACKET_BYTES = (576, 1000, 1200, 1280, 1320, 1360, 1380, 1400, 1420, 1440, 1460, 1480, 1492, 1500, 2000, 4000, 8000)
"""Packets that are tried where those of the path's MTU do not pass."""


def round_trips(
    link: PeerLink, endpoint: Endpoint, at: Coordinates, size: int, seconds: float, context: Context
) -> Iterator[Samples | Estimate]:
    """Yield the time from sending a message to having its echo, one at a time, and the segments sent again."""
    number, message, end = next(link.numbers), os.urandom(size), time.perf_counter_ns() + round(seconds * 1e9)
    trips: list[int] = []
    with link.connect(endpoint, "echo", size=size, number=number) as connection:
        set_timeout(connection, STALL_SECONDS)
        before = _user_seconds(link)
        while time.perf_counter_ns() < end:
            window = sorted(_trips(link, connection, message))
            trips += window
            for series, share in (("round-trip-p50", 0.5), ("round-trip-p99", 0.99)):
                yield Samples(series, at, (context.now_ns(),), (quantile(window, share),))
        there = link.counters(number)
        sent, again, _, _ = tcp_counters(connection)
        program_ns = (_user_seconds(link) - before) * 1e9 / len(trips)
    trips.sort()
    extra: dict[str, str | float] = {"program_ns": program_ns, "note": f"{format_ns(program_ns)} of it this program"}
    extra |= {f"{name}_ns": quantile(trips, share) for name, share in (("p99_9", 0.999), ("maximum", 1.0))}
    low, high = quantile(trips, 0.1), quantile(trips, 0.9)
    for series, share in (("round-trip-p50", 0.5), ("round-trip-p99", 0.99)):
        value, number = quantile(trips, share), len(trips)
        yield Estimate(series, at, value, minimum=trips[0], p10=low, p90=high, replicates=number, extra=extra)
    yield _retransmits({**at, "direction": "round trip", "streams": 1}, sent + there["sent"], again + there["again"])


def _user_seconds(link: PeerLink) -> float:
    """Return the CPU time that both programs spent outside of their kernels: of a round trip, what Python costs."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_utime + link.counters(0)["user"]


def _trips(link: PeerLink, connection: socket.socket, message: bytes) -> list[int]:
    """Return the nanoseconds of each round trip of a tenth of a second, with as little Python around it as can be."""
    trips, descriptor, size = [], connection.fileno(), len(message)
    start = time.perf_counter_ns()
    end = start + round(WINDOW_SECONDS * 1e9)
    try:
        while start < end:
            os.write(descriptor, message)
            left = size
            while left:
                left -= (count := len(os.read(descriptor, left)))
                if not count:
                    raise link.lost()
            now = time.perf_counter_ns()
            trips.append(now - start)
            start = now
    except BlockingIOError:
        name = connection.getpeername()[0]
        raise SizeupError(
            f"{name}: a message of {size} bytes has no answer after {STALL_SECONDS} s; check the path for loss"
        ) from None
    except OSError as error:
        raise link.lost() from error
    return trips


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of figures in order."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _retransmits(at: Coordinates, sent: float, again: float) -> Estimate:
    return Estimate("retransmits", at, again / max(sent, 1), extra={"segments": sent, "sent_again": again})


def transfer(
    link: PeerLink, endpoint: Endpoint, at: Coordinates, seconds: float, rate: int, context: Context
) -> Iterator[Samples | Estimate]:
    """Yield the throughput of streams in one direction, what it costs the CPUs, and the segments sent again.

    ``rate`` limits the streams together, in bytes per second; 0 for no limit. Bytes count when they have arrived.
    """
    sending, count, number = at["direction"] == "send", int(at["streams"]), next(link.numbers)
    here, there, arrived = ("source", "sink", 2) if sending else ("sink", "source", 3)
    with ExitStack() as stack:
        opened = (link.connect(endpoint, there, number=number, rate=rate // count) for _ in range(count))
        streams = [stack.enter_context(stream) for stream in opened]
        threads = [threading.Thread(target=run_job, args=(stream, here, 0), daemon=True) for stream in streams]
        stack.callback(_end, streams, threads)
        for stream, thread in zip(streams, threads, strict=True):
            stream.settimeout(None)
            thread.start()
        time.sleep(min(WARM_SECONDS, seconds / 4))
        before, marks = _cpu_seconds(link), [_mark(streams, arrived)]
        while (now := time.perf_counter()) < (end := marks[0][0] + seconds):
            time.sleep(min(WINDOW_SECONDS, end - now))
            if not all(thread.is_alive() for thread in threads):
                raise link.lost()
            marks.append(_mark(streams, arrived))
            yield Samples("rate", at, (context.now_ns(),), (_rate(*marks[-2:]),))
        after, peer = _cpu_seconds(link), link.counters(number)
        own = [tcp_counters(stream) for stream in streams]
    windows, moved = sorted(_rate(*pair) for pair in pairwise(marks)), marks[-1][1] - marks[0][1]
    low, high, count = quantile(windows, 0.1), quantile(windows, 0.9), len(windows)
    yield Estimate("rate", at, _rate(marks[0], marks[-1]), minimum=windows[0], p10=low, p90=high, replicates=count)
    for side, index in (("here", 0), ("peer", 2)) if moved else ():
        cost, busy = ((after[part] - before[part]) * 1e18 / moved for part in (index, index + 1))
        yield Estimate("cpu", {**at, "side": side}, cost, extra={"host_busy_ns": busy} if after[index + 1] else {})
    sent, again = (sum(one[part] for one in own) for part in (0, 1)) if sending else (peer["sent"], peer["again"])
    yield _retransmits(at, sent, again)


def _mark(streams: Sequence[socket.socket], counter: int) -> tuple[float, int]:
    return time.perf_counter(), sum(tcp_counters(stream)[counter] for stream in streams)


def _rate(begin: tuple[float, int], end: tuple[float, int]) -> float:
    return (end[1] - begin[1]) / (end[0] - begin[0])


def _end(streams: Sequence[socket.socket], threads: Sequence[threading.Thread]) -> None:
    """End transfers at once; what is not sent yet is dropped."""
    for stream in streams:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):  # the other side was faster
            stream.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()


def _cpu_seconds(link: PeerLink) -> tuple[float, float, float, float]:
    """Return the CPU time of the process and of the whole host, here and at the peer; 0 for a host if unknown."""
    there, stat = link.counters(0), read_stat()
    busy = 0 if stat is None else stat.total - stat.idle_total - stat.steal
    return time.process_time(), busy / os.sysconf("SC_CLK_TCK"), there["cpu"], there["busy"]


def passing_packets(link: PeerLink, endpoint: Endpoint, *, sending: bool) -> tuple[int, int]:
    """Return the MTU of the path as the kernel knows it, and the largest packets in which a bulk passes, or 0."""
    headers, level, option = (60, socket.IPPROTO_IPV6, 24) if ":" in endpoint[0] else (40, socket.IPPROTO_IP, 14)

    def passes(packet: int) -> tuple[int, bool]:
        job, segment = "sink" if sending else "source", packet - headers if packet else 0
        with link.connect(endpoint, job, size=BULK_BYTES, segment=segment) as connection:
            passed = False
            connection.settimeout(BULK_SECONDS)
            with suppress(OSError):
                if sending:
                    connection.sendall(bytes(BULK_BYTES))
                    passed = bool(connection.recv(1))
                else:
                    set_timeout(connection, BULK_SECONDS)
                    passed = len(connection.recv(BULK_BYTES, socket.MSG_WAITALL)) == BULK_BYTES
            return connection.getsockopt(level, option), passed  # IP_MTU, IPV6_MTU: what it has learned, too

    mtu, passed = passes(0)
    if passed:
        return mtu, mtu
    sizes = [size for size in PACKET_BYTES if size < mtu] + [mtu]
    with ThreadPoolExecutor(len(sizes)) as pool:  # at once: each that does not pass takes seconds
        found = list(pool.map(passes, sizes))
    return mtu, max((size for size, (_, passed) in zip(sizes, found, strict=True) if passed), default=0)
