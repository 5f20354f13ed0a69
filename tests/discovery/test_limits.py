"""Kernel limits, from text to value."""

from pathlib import Path

from sizeup.discovery.os_settings import read_limits
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import Limits

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
Max locked memory         unlimited            unlimited            bytes
"""


def test_limits_are_read_from_their_files(tmp_path: Path) -> None:
    for name, text in {
        "self/status": "Name:\tcat\nCapEff:\t0000000000804000\nCapBnd:\t000001ffffffffff\n",
        "self/limits": LIMITS,
        "sys/fs/aio-max-nr": "65536\n",
        "sys/fs/aio-nr": "128\n",
        "sys/kernel/perf_event_paranoid": "-1\n",
    }.items():
        path = tmp_path / "proc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert read_limits(Sysroot(str(tmp_path))) == Limits(
        capabilities=frozenset({14, 23}),
        open_files=1024,
        aio_requests_max=65536,
        aio_requests_used=128,
        io_uring_disabled=None,
        perf_event_paranoid=-1,
    )
