"""TCP buffers of the running kernel, from text to value."""

from pathlib import Path

import pytest

from sizeup.discovery.nics import parse_buffer_sizes, read_tcp_buffers
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import TcpBuffers


def settings(root: Path, **texts: str) -> Sysroot:
    folder = root / "proc" / "sys" / "net" / "ipv4"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Sysroot(str(root))


def test_buffers_are_read_from_their_files(tmp_path: Path) -> None:
    sysroot = settings(
        tmp_path, tcp_rmem="4096\t131072\t6291456\n", tcp_wmem="4096\t16384\t4194304\n", tcp_window_scaling="1\n"
    )

    assert read_tcp_buffers(sysroot) == TcpBuffers((4096, 131072, 6291456), (4096, 16384, 4194304), True)
    assert sysroot.gaps == []


def test_what_the_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    assert read_tcp_buffers(settings(tmp_path)) is None


def test_what_is_no_size_is_unknown_and_a_gap(tmp_path: Path) -> None:
    sysroot = settings(tmp_path, tcp_rmem="4096 lots\n", tcp_window_scaling="0\n")

    assert read_tcp_buffers(sysroot) == TcpBuffers(None, None, False)
    assert ["tcp_rmem" in gap.subject for gap in sysroot.gaps] == [True]


@pytest.mark.parametrize("text", ["", "1 2", "1 2 3 4", "1 2 x", "-1 2 3"])
def test_three_sizes_are_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected three sizes"):
        parse_buffer_sizes(text)
