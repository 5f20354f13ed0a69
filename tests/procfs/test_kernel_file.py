"""What cannot be read is unknown and says why; what can is text, whatever its bytes, and never without bound."""

import errno
import os
from pathlib import Path

import pytest

from sizeup.procfs import kernel_file
from sizeup.procfs.kernel_file import (
    Unreadable,
    list_names,
    parse_integer,
    read_file,
    read_integer,
    read_line,
    read_text,
)


def test_a_file_is_its_text_and_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "serial").write_bytes(b"A\xff1\n")

    assert read_text(str(tmp_path / "serial")) == "A\ufffd1\n"


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "absent")) is None
    assert read_text(str(tmp_path)) is None
    assert read_text("/proc/\0") is None


def test_a_refusal_says_whether_there_is_a_file_and_why_it_is_unknown(tmp_path: Path) -> None:
    absent, folder = read_file(str(tmp_path / "absent")), read_file(str(tmp_path))

    assert absent == Unreadable(errno.ENOENT)
    assert (absent.missing, absent.reason) == (True, "missing")
    assert folder == Unreadable(errno.EISDIR)
    assert (folder.missing, folder.reason) == (False, f"cannot be read: {os.strerror(errno.EISDIR)}")
    assert Unreadable(errno.EACCES).reason == "permission denied"


def test_a_file_without_end_is_cut_at_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_file, "FILE_BYTES_LIMIT", 1 << 17)
    (tmp_path / "long").write_bytes(bytes([0x41]) * (1 << 20))

    assert len(read_text(str(tmp_path / "long")) or "") == 1 << 17


@pytest.mark.parametrize(
    ("text", "line", "number"),
    [
        ("12\n", "12", 12),
        ("-1\n", "-1", -1),
        ("0x1f\n", "0x1f", 31),
        ("\n", None, None),
        ("unknown\n", "unknown", None),
        (f"{'9' * 5000}\n", "9" * 5000, None),
    ],
)
def test_a_one_value_file_is_a_line_and_perhaps_a_number(
    tmp_path: Path, text: str, line: str | None, number: int | None
) -> None:
    (tmp_path / "value").write_text(text)

    assert read_line(str(tmp_path / "value")) == line
    assert read_integer(str(tmp_path / "value")) == number


def test_a_directory_lists_its_names_in_order_and_one_that_is_missing_has_none(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).touch()

    assert list_names(str(tmp_path)) == ("a", "b")
    assert list_names(str(tmp_path / "absent")) == ()
    assert list_names("\0") == ()


@pytest.mark.parametrize("text", ["many", "0xg", "", "1.5"])
def test_what_is_no_number_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=f"^expected a whole number, found '{text}'$"):
        parse_integer(text)


def test_a_number_that_no_session_can_hold_is_refused() -> None:
    assert [parse_integer(text) for text in ("9223372036854775807", "-9223372036854775807")] == [2**63 - 1, 1 - 2**63]
    for text in ("9223372036854775808", "-9223372036854775808", "0x8000000000000000"):
        with pytest.raises(ValueError, match=f"^expected a number of at most 64 bits, found {text}$"):
            parse_integer(text)
