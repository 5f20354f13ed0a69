"""The side of a peer that measures: ssh that starts it on the other host, and the connections that it serves."""

from __future__ import annotations

import json
import os
import secrets
import select
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from itertools import count

from sizeup.errors import SizeupError
from sizeup.model.plan import Settings
from sizeup.probing.remote_python import start_python
from sizeup.text import one_line
from sizeup_net.peer import HEADER_BYTES, MARK, prepare

START_SECONDS, CONNECT_SECONDS, ANSWER_SECONDS = 60.0, 5.0, 10.0
_MOST_BYTES = 1 << 20
Endpoint = tuple[str, int]  # an address and a port that the peer listens on


class PeerLink:
    """A peer on another host, for one run; it ends with ``process``, which is ssh, or with its standard input."""

    def __init__(self, settings: Settings, addresses: Sequence[str], seconds: float) -> None:
        self._host, self._port = str(settings["host"]), int(settings["port"])
        self._token = secrets.token_hex(32)
        self._buffer, self._last = b"", ""
        self.numbers = count(1)  # one for each measurement, whose connections are counted together
        program = resources.files("sizeup_net").joinpath("peer.py").read_bytes()
        self.process = start_python(self._host, program, (3, 6))
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._in, self._out, self._errors = self.process.stdin, self.process.stdout, self.process.stderr
        request = {"token": self._token, "addresses": addresses, "only": settings["named"]}
        self._send(json.dumps({**request, "port": self._port, "seconds": int(seconds) + 1}))

    def listening(self) -> list[Endpoint]:
        """Return the addresses and ports that the peer listens on, as soon as it does."""
        line = ""
        while not line.startswith(MARK):  # what its login shell prints
            line = self._line(START_SECONDS)
        found = [(str(address), int(port)) for address, port in json.loads(line.removeprefix(MARK))]
        if not found:
            port = self._port or "(any)"
            raise SizeupError(
                f"{self._host}: cannot listen on TCP port {port} of an address that is named, or of that in "
                "SSH_CONNECTION; name a free port= and an address= that ip address prints there"
            )
        return found

    def counters(self, number: int) -> dict[str, float]:
        """Return what the peer counted: segments ``sent`` and sent ``again`` of a measurement, and times in seconds.

        ``cpu`` is its own user and system time, ``user`` the former, ``busy`` that of its whole host, 0 if unknown.
        """
        self._send(str(number))
        found: dict[str, float] = json.loads(self._line(ANSWER_SECONDS))
        return found

    def connect(
        self, endpoint: Endpoint, job: str, *, size: int = 0, number: int = 0, rate: int = 0, segment: int = 0
    ) -> socket.socket:
        """Return a connection that the peer serves with a job; ``segment`` limits the payload of a packet."""
        header = json.dumps({"job": job, "bytes": size, "number": number, "rate": rate})
        connection = socket.socket(socket.AF_INET6 if ":" in endpoint[0] else socket.AF_INET, socket.SOCK_STREAM)
        try:
            if segment:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
            prepare(connection, rate)
            connection.settimeout(CONNECT_SECONDS)
            connection.connect(endpoint)
            connection.sendall(f"{self._token} {header}".ljust(HEADER_BYTES).encode())
        except OSError as error:
            connection.close()
            if self.process.poll() is not None:
                raise self.lost() from error
            raise SizeupError(
                f"{endpoint[0]}: TCP port {endpoint[1]}, where the peer listens, cannot be reached from here "
                f"({error.strerror or error}); let it through the firewalls, or name an open port: port="
            ) from error
        return connection

    def lost(self) -> SizeupError:
        """Return the error for a peer that did not start or has ended, with what ssh says about it."""
        self._in.close()
        status = self.process.wait()  # ssh gives up a dead connection by itself
        said = one_line(" ".join(self._errors.read(_MOST_BYTES).decode(errors="replace").split()) or self._last)
        return SizeupError(
            f"{self._host}: the connection by ssh has ended (exit status {status}: {said or 'no message'}); expected "
            f"that this asks nothing and prints at least Python 3.6: ssh -o BatchMode=yes {self._host} python3 -V"
        )

    def _send(self, line: str) -> None:
        with suppress(BrokenPipeError):  # the next answer says why
            self._in.write(line.encode() + b"\n")

    def _line(self, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._out], [], [], max(deadline - time.monotonic(), 0.0))
            chunk = os.read(self._out.fileno(), _MOST_BYTES) if ready else b""
            if not chunk or len(self._buffer) > _MOST_BYTES:
                raise self.lost()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        self._last = line.decode(errors="replace")
        return self._last
