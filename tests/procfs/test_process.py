"""Limits, state and control groups of a process."""

import pytest

from sizeup.procfs.process import (
    CgroupMembership,
    parse_allowed,
    parse_capabilities,
    parse_cgroup,
    parse_limits,
    parse_scheduling,
)

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
Max locked memory         unlimited            unlimited            bytes
Max realtime timeout      unlimited            unlimited            us
"""
STATUS = """\
Name:\tcat
State:\tD (disk sleep)
CapEff:\t0000000000804000
CapBnd:\t000001ffffffffff
Cpus_allowed_list:\t0-1,4
Mems_allowed_list:\t0
voluntary_ctxt_switches:\t30
nonvoluntary_ctxt_switches:\t12
"""


def test_soft_limits_go_by_name() -> None:
    limits = {"Max open files": 1024, "Max locked memory": None, "Max realtime timeout": None}

    assert parse_limits(LIMITS) == limits
    assert parse_limits("") == {}


def test_a_status_tells_capabilities_cpus_nodes_and_scheduling() -> None:
    assert parse_capabilities(STATUS) == {14, 23}
    assert parse_allowed(STATUS) == ((0, 1, 4), (0,))
    assert parse_scheduling(STATUS) == ("D", 42)


def test_what_a_status_does_not_say_is_none() -> None:
    assert parse_capabilities("") is None
    assert parse_allowed("Mems_allowed_list:\t0\n") == (None, (0,))
    assert parse_scheduling("") == ("", 0)


def test_a_list_that_no_kernel_writes_is_refused() -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_allowed("Cpus_allowed_list:\t0-99999999999\n")


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
