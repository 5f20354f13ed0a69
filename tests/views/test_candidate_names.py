"""Names of candidates in a table: as much of each path as tells them apart."""

import pytest

from sizeup.sizing.advise import size
from sizeup.views.result.candidates import Candidate, short_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("m/lscpu/a/root", "m/hwloc/b/root"), ["a", "b"]),
        (("m/lscpu/a/root", "m/hwloc/a/root"), ["lscpu", "hwloc"]),
        (("captures/x.tar.gz", "offer.toml"), ["x.tar.gz", "offer.toml"]),
        (("only/one/root",), ["root"]),
    ],
)
def test_a_name_is_what_tells_it_apart(names: tuple[str, ...], short: list[str]) -> None:
    sizing = size({})

    assert short_names([Candidate(name, sizing) for name in names]) == short
