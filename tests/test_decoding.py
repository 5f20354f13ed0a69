"""Decoders hold where several threads use them at first, and every reader of TOML refuses what is no number here."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consoles import ended, records
from sizeup import config
from sizeup.child_process import environment
from sizeup.cli import run
from sizeup.errors import MalformedError
from sizeup.fleet.reference_figures import parse_reference_figures
from sizeup.probing.manifest_file import manifest_mistakes, parse_manifest
from sizeup.session.records import ENCODER
from sizeup.sizing import rules
from sizeup.sizing.inputs.imported import parse_toml
from sizeup.sizing.inputs.presets import parse_presets
from tiers import one_in

FIRST_USE = """
import sys, threading
from sizeup.fleet.host_session import _machine_decoder
from sizeup.session.builder import decode

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


@pytest.mark.parametrize("host", one_in(2, [b"db01", "db\N{LATIN SMALL LETTER U WITH DIAERESIS}1".encode()]))
def test_six_threads_may_read_the_first_session_at_once(host: bytes, tmp_path: Path) -> None:
    """A line that is not ASCII is decoded in another way, which works out the types by itself."""
    lines = b"".join(ENCODER.encode(record) + b"\n" for record in [*records(), *ended()])
    session = tmp_path / "session"
    session.write_bytes(lines.replace(b"db01", host))

    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, str(session)], env=environment(), stderr=subprocess.PIPE, timeout=120
    )

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "[9223372036854775808]"])
@pytest.mark.parametrize(
    "read",
    [
        lambda text: rules.load(rules.shipped_texts(), ("x.toml", text)),
        lambda text: parse_toml(text, "x.toml", "candidate"),
        lambda text: parse_toml(text, "x.toml"),
        lambda text: config.parse(text, "x.toml"),
        lambda text: parse_manifest(text, "x.toml"),
        manifest_mistakes,
        lambda text: parse_presets(text, "x.toml"),
        lambda text: parse_reference_figures(text, "x.toml"),
    ],
)
def test_a_number_that_no_program_can_use_is_an_error_in_every_toml(read: Callable[[str], object], number: str) -> None:
    with pytest.raises(MalformedError, match=r"found a whole number beyond 64 bits$"):
        read(f"a.b = {number}\n")


def test_a_profile_with_such_a_number_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.sizeup.jsonl").write_bytes(b"".join(ENCODER.encode(record) + b"\n" for record in records()))
    (tmp_path / "profile.toml").write_text(f"[storage.random_iops]\nmin = {'9' * 5000}\n")

    assert run(["fleet", str(tmp_path), "--profile", str(tmp_path / "profile.toml")]) == 2

    assert capsys.readouterr().err.endswith("in TOML: found a whole number beyond 64 bits\n")
