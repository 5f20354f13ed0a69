"""In a guest with two Fibre Channel paths to one device: one of them fails while I/O runs."""

import os
from pathlib import Path

import pytest

from plugins.direct_io.staging import watched
from sizeup.session.reader import read_session

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


def find_multipath() -> tuple[str, Path]:
    """A map over two SCSI devices that FC leads to, and the state of one of them."""
    for folder in sorted(Path("/sys/block").glob("dm-*")):
        slaves = sorted((folder / "slaves").iterdir())
        devices = [(slave / "device").resolve() for slave in slaves]
        if len(devices) > 1 and all("/rport-" in str(device) for device in devices):
            return f"/dev/mapper/{(folder / 'dm/name').read_text().strip()}", devices[-1] / "state"
    pytest.skip("no device with two FC paths here")


def test_a_path_that_fails_in_a_run_is_recorded_and_told(tmp_path: Path) -> None:
    device, state = find_multipath()
    session = tmp_path / "session"
    try:
        told = watched(
            device,
            session,
            fault=lambda: state.write_text("offline\n"),
            preset="oltp-read",
            size="16M",
            seconds=8,
            times=2,
            depth=1,
        )
    finally:
        state.write_text("running\n")

    gaps = [f"{gap.subject}: {gap.reason}" for gap in read_session(str(session)).gaps]
    print("\n".join(gaps), told.said(), told.words, sep="\n")
    assert any("went from running to offline" in gap for gap in gaps)
    assert "went from running to offline" in told.words + told.said()
