"""Paths that change at the same time are all told."""

import pytest

from sizeup.model.machine import Gap
from sizeup_direct_io.disks import PathWatch

STATES = {"a": "running", "b": "running", "c": "running"}


@pytest.mark.parametrize("lost", [("a",), ("a", "b"), ("a", "b", "c"), ("c",)])
def test_each_path_that_is_lost_is_a_gap(lost: tuple[str, ...]) -> None:
    states = dict(STATES)
    watch = PathWatch({path: path for path in states}, now=lambda: 100.0, read=lambda file: states[file])
    states.update(dict.fromkeys(lost, "offline"))
    gaps = list(watch.gaps(at_once=True))

    assert all(isinstance(gap, Gap) for gap in gaps)
    assert [gap.subject for gap in gaps] == [f"io.direct: path {path}" for path in lost]
    assert all("later figures are of the remaining paths" in gap.reason for gap in gaps)
    assert list(watch.gaps(at_once=True)) == [], "each once"
