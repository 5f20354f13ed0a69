"""The program that ``net.path`` runs on the other host: it serves the connections of one run, and nobody else's.

It needs no root, no sizeup and nothing but the standard library of Python 3.6. Standard input brings a line of JSON
with the token of the run, and then the number of a measurement whenever its counters are wanted. The end of standard
input ends the peer, as the connection or the other side has gone; so does its time limit. Standard output carries a
line that starts with ``MARK`` and says where it listens, and a line for each request. A connection gets nothing before
it has sent ``HEADER_BYTES`` that begin with the token.
"""

import contextlib
import functools
import hmac
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time

MARK = "sizeup-peer"
HEADER_BYTES = 256
PENDING_SECONDS = 3  # for the header of a connection
MOST_PENDING = 32  # connections without the token, of which a further one ends the oldest
CHUNK_BYTES, SO_MAX_PACING_RATE = 1 << 18, 47


def tcp_counters(connection: socket.socket) -> "tuple[int, int, int, int]":
    """Return segments sent, segments sent again, bytes acknowledged and bytes received; zeros before Linux 4.2."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256).ljust(140, b"\0")
    again, acknowledged, received, sent = struct.unpack_from("=I16xQQI", info, 100)
    return sent, again, acknowledged, received


def set_timeout(connection: socket.socket, seconds: int) -> None:
    """Limit a receiving call, in the kernel: Python's own limit costs a system call; 0 for no limit."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))


def prepare(connection: socket.socket, bytes_per_second: int) -> None:
    """Let the kernel send messages at once, and no faster than at a rate; 0 for no limit."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=I", bytes_per_second or 0xFFFFFFFF))


def run_job(connection: socket.socket, job: str, size: int) -> None:
    """Do what is wanted of a connection, until it ends or fails."""
    with contextlib.suppress(OSError):
        {"echo": _echo, "sink": _sink, "source": _source}[job](connection, size)


def _echo(connection: socket.socket, size: int) -> None:
    """Send back whatever comes, with as little Python around it as can be."""
    for message in iter(functools.partial(os.read, connection.fileno(), size), b""):
        os.write(connection.fileno(), message)


def _sink(connection: socket.socket, size: int) -> None:
    """Take whatever comes; after ``size`` bytes send one, 0 for never."""
    buffer = bytearray(CHUNK_BYTES)
    if size:
        connection.recv(size, socket.MSG_WAITALL)
        connection.sendall(b"k")
    while connection.recv_into(buffer):
        pass


def _source(connection: socket.socket, size: int) -> None:
    """Send so many bytes, 0 for without end; random ones, which nothing on the path compresses."""
    buffer = os.urandom(CHUNK_BYTES)
    connection.sendall(buffer[:size])
    while not size:
        connection.sendall(buffer)
    connection.recv(1)  # the other side closes


class Peer:
    """Accepts connections, and serves each that has the token."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._pending: dict[socket.socket, None] = {}
        self._served: dict[socket.socket, int] = {}

    def serve(self, listeners: "list[socket.socket]") -> None:
        """Serve until standard input ends."""
        while True:
            ready = select.select([sys.stdin, *listeners], [], [])[0]
            if sys.stdin in ready:
                self._answer(os.read(0, 4096))
            for listener in listeners:
                with contextlib.suppress(OSError):  # none waits
                    connection, _ = listener.accept()
                    for oldest in list(self._pending)[: max(0, len(self._pending) - MOST_PENDING + 1)]:
                        self._pending.pop(oldest, None)
                        with contextlib.suppress(OSError):  # it has just gone by itself
                            oldest.shutdown(socket.SHUT_RDWR)
                    self._pending[connection] = None
                    threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _answer(self, data: bytes) -> None:
        """Report the counters of a measurement."""
        if not data:
            os._exit(0)
        sent = again = 0
        for connection in [one for one, number in list(self._served.items()) if number == int(data)]:
            with contextlib.suppress(OSError):  # it has just ended
                counters = tcp_counters(connection)
                sent, again = sent + counters[0], again + counters[1]
        found = {"sent": sent, "again": again, "cpu": time.process_time(), "busy": _host_busy_seconds()}
        found["user"] = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        print(json.dumps(found), flush=True)  # noqa: T201

    def _serve_one(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            set_timeout(connection, PENDING_SECONDS)
            try:
                header = connection.recv(HEADER_BYTES, socket.MSG_WAITALL)
            finally:
                self._pending.pop(connection, None)
            token, _, rest = header.ljust(HEADER_BYTES).partition(b" ")
            if not hmac.compare_digest(token, self._token):
                return
            job = json.loads(rest.decode())
            self._served[connection] = job["number"]
            set_timeout(connection, 0)
            prepare(connection, job["rate"])
            run_job(connection, job["job"], job["bytes"])
            del self._served[connection]


def _host_busy_seconds() -> float:
    """Return the CPU time of the host that was not idle, with kernel threads and interrupts; 0 if unknown."""
    with contextlib.suppress(OSError, ValueError), open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
        return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _listeners(addresses: "list[str]", port: int) -> "list[socket.socket]":
    """Return a listening socket for each address that is of this host."""
    found = []
    for address in addresses:
        listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        with contextlib.suppress(OSError):  # an address of another host
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(128)
            listener.settimeout(0)
            found.append(listener)
    return found


def main() -> None:
    """Listen on those of the addresses that are of this host; on the one that ssh came to if none is."""
    request = json.loads(sys.stdin.buffer.readline().decode())
    signal.alarm(request["seconds"])  # nothing catches it: whatever hangs, this process ends
    listeners = _listeners(request["addresses"], request["port"])
    if not listeners and not request["only"]:
        listeners = _listeners(os.environ.get("SSH_CONNECTION", "").split()[2:3], request["port"])
    names = [listener.getsockname()[:2] for listener in listeners]
    print(f"\n{MARK} {json.dumps(names)}", flush=True)  # noqa: T201  a login shell may leave its last line open
    if listeners:
        Peer(request["token"]).serve(listeners)


if __name__ == "__main__":
    main()
