"""Limits and state of a process."""

import pytest

from sizeup.procfs.process import parse_allowed, parse_capabilities, parse_limits, parse_scheduling

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
