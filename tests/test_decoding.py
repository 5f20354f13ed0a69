"""Decoders hold where several threads use them at first."""

import subprocess
import sys
from pathlib import Path

import pytest

from consoles import ended, records
from sizeup.child_process import environment
from sizeup.session.records import ENCODER

FIRST_USE = """
import sys, threading
from sizeup.fleet.host_session import _machine_decoder
from sizeup.session.decoder import decode

lines = open(sys.argv[1], "rb").read().splitlines()
barrier = threading.Barrier(6)
done = []

def use():
    barrier.wait()
    for line in lines:
        decode(line)
    _machine_decoder()
    done.append(True)

threads = [threading.Thread(target=use) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(len(done) != 6)
"""


@pytest.mark.parametrize("host", [b"db01", "db\N{LATIN SMALL LETTER U WITH DIAERESIS}1".encode()])
def test_six_threads_may_read_the_first_session_at_once(host: bytes, tmp_path: Path) -> None:
    """A line that is not ASCII is decoded in another way, which works out the types by itself."""
    lines = b"".join(ENCODER.encode(record) + b"\n" for record in [*records(), *ended()])
    session = tmp_path / "session"
    session.write_bytes(lines.replace(b"db01", host))

    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, str(session)], env=environment(), stderr=subprocess.PIPE, timeout=120
    )

    assert (done.returncode, done.stderr) == (0, b"")
