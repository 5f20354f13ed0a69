"""A kernel file that cannot be read is None; one that can is text, whatever its bytes."""

from pathlib import Path

from sizeup.procfs.kernel_file import read_text


def test_a_file_is_its_text_and_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "serial").write_bytes(b"A\xff1\n")

    assert read_text(str(tmp_path / "serial")) == "A\ufffd1\n"


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "absent")) is None
    assert read_text(str(tmp_path)) is None
    assert read_text("/proc/\0") is None
