"""The groups of a process, of both versions."""

import pytest

from sizeup.procfs.process import CgroupMembership, parse_cgroup


def test_each_hierarchy_has_its_controllers_and_version_2_has_none() -> None:
    groups = parse_cgroup("7:cpu,cpuacct:/job\n1:name=systemd:/init.scope\n0::/user.slice/a:b\n")

    assert groups == (
        CgroupMembership(("cpu", "cpuacct"), "/job"),
        CgroupMembership(("name=systemd",), "/init.scope"),
        CgroupMembership((), "/user.slice/a:b"),
    )
    assert [group.unified for group in groups] == [False, False, True]


@pytest.mark.parametrize(("path", "above"), [("/a/b", ["/a/b", "/a"]), ("/a", ["/a"]), ("/", [])])
def test_a_group_lies_in_all_those_above_it(path: str, above: list[str]) -> None:
    assert list(CgroupMembership((), path).ancestors()) == above


@pytest.mark.parametrize("text", ["", "x", "0:", "0:cpu", "0::", "x::/a", "0::relative"])
def test_what_is_no_group_is_left_out(text: str) -> None:
    assert parse_cgroup(text) == ()
