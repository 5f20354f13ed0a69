"""The first touch: which blocks are read, and when to stop."""

import os
import random
from pathlib import Path

import pytest

from sizeup_direct_io.checks import FEWEST_TOUCHES, TOUCHES, direct_reader, read_twice, touch_offsets

MIB = 1 << 20


def test_blocks_are_spread_over_the_whole_target_and_aligned() -> None:
    offsets = touch_offsets(MIB, 64 * MIB, random.Random(1))

    assert len({(offset - MIB) // MIB for offset in offsets}) == TOUCHES
    assert all(offset % 8192 == 0 and MIB <= offset <= 65 * MIB - 8192 for offset in offsets)
    assert offsets != sorted(offsets)


def test_each_block_is_read_once_and_then_all_of_them_again() -> None:
    seen: list[int] = []

    def read(offset: int) -> int:
        seen.append(offset)
        return 9_000_000 if seen.count(offset) == 1 else 90_000

    first, second = read_twice([8, 4, 2], read)

    assert (first, second, seen) == ([9_000_000] * 3, [90_000] * 3, [8, 4, 2, 8, 4, 2])


def test_a_volume_that_takes_seconds_for_each_block_is_asked_for_a_few_only() -> None:
    first, second = read_twice(range(TOUCHES), lambda _offset: 2_000_000_000)

    assert len(first) == len(second) == FEWEST_TOUCHES


def test_what_a_block_holds_is_kept_by_its_offset(tmp_path: Path) -> None:
    content = os.urandom(4 * 8192)
    (tmp_path / "file").write_bytes(content)
    try:
        descriptor = os.open(tmp_path / "file", os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        pytest.skip(f"{tmp_path} takes no direct I/O: {error}")
    contents: dict[int, bytes] = {}
    try:
        times = read_twice([16384, 0], direct_reader(descriptor, contents))
    finally:
        os.close(descriptor)

    assert contents == {16384: content[16384:24576], 0: content[:8192]}
    assert all(spent_ns > 0 for spent_ns in (*times[0], *times[1]))
