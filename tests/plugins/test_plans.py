"""Every plan on the eight large machines: limits, time in all, caches, nodes and classes."""

import pytest

from large_machines import EIGHT
from plan_table import MEASURED, PLANS, bytes_per_cache, plan_rows
from sizeup.model.plan import LEAST_LIMIT_OVER_ESTIMATE
from sizeup.probing.registry import load_registry
from sizeup_memory import durations
from tiers import one_in

REGISTRY = load_registry()
MOST_SECONDS = {"quick": 10.0, "standard": 360.0, "full": 1800.0}
ONE_PLACE = {"clock.cost", "memory.latency", "io.direct"}
"""Probes of one CPU; and of disks, whose CPUs are chosen when it runs."""
BOTH = [(name, plan) for name in EIGHT for plan in PLANS]


@pytest.mark.parametrize(("name", "plan"), one_in(4, BOTH))
def test_every_step_has_the_time_that_it_needs(name: str, plan: str) -> None:
    rows = plan_rows(name, plan)

    assert {row.probe for row in rows} >= {"clock.cost", "memory.latency", "io.direct"}
    for row in rows:
        for step in row.steps:
            assert step.estimated_seconds > 0, step.id
            assert step.time_limit_seconds >= LEAST_LIMIT_OVER_ESTIMATE * step.estimated_seconds, step.id
            assert step.time_limit_seconds <= REGISTRY.get(row.probe).manifest.limits.seconds, step.id


@pytest.mark.parametrize(("name", "plan"), one_in(4, BOTH))
def test_a_plan_takes_no_longer_than_one_waits_for_it(name: str, plan: str) -> None:
    seconds = {row.probe: row.estimate for row in plan_rows(name, plan) if row.probe != "io.direct"}

    assert sum(seconds.values()) <= MOST_SECONDS[plan], seconds


@pytest.mark.ci
@pytest.mark.parametrize(("name", "plan"), BOTH)
def test_a_plan_ends_in_time_also_where_no_point_converges(
    name: str, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {step.id: step.time_limit_seconds for row in plan_rows(name, plan) for step in row.steps}
    monkeypatch.setattr(durations, "EXPECTED_REPLICATES", 128)
    longest = {
        step.id: step.estimated_seconds
        for row in plan_rows.__wrapped__(name, plan)
        if row.probe != "io.direct"
        for step in row.steps
    }

    assert sum(longest.values()) <= MOST_SECONDS[plan]
    assert [id_ for id_, seconds in longest.items() if LEAST_LIMIT_OVER_ESTIMATE * seconds > limits[id_]] == []


def test_points_may_have_as_many_replicates_as_they_need_to_converge() -> None:
    """A lower maximum ends points that are narrow by chance: docs/explanation/statistics.md."""
    most = {
        (probe.name, plan): {**{one.name: one.default for one in manifest.parameter}, **settings}["replicates_max"]
        for probe in REGISTRY.probes.values()
        for manifest in [probe.manifest]
        for plan, settings in manifest.plans.items()
        if any(parameter.name == "replicates_max" for parameter in manifest.parameter)
    }

    assert set(most.values()) == {128}


@pytest.mark.parametrize(("name", "plan"), one_in(5, [both for both in BOTH if both[1] != "quick"]))
def test_every_node_and_class_is_measured(name: str, plan: str) -> None:
    for row in plan_rows(name, plan):
        assert row.lacking_classes == [], row.probe
        if row.probe in ONE_PLACE:
            continue
        # Only a matrix reaches nodes without CPUs.
        expected = {node.os_id for node in EIGHT[name]().nodes if node.pus or "cells" in row.steps[0].settings}
        assert row.nodes >= expected or row.probe == "memory.shm", row.probe
        assert row.nodes >= {node.os_id for node in EIGHT[name]().nodes if node.pus}, row.probe


@pytest.mark.ci
@pytest.mark.parametrize(("name", "plan"), [both for both in BOTH if both[1] != "quick"])
def test_every_point_exceeds_the_caches(name: str, plan: str) -> None:
    for row in plan_rows(name, plan):
        multiple = bytes_per_cache(row, EIGHT[name]())
        assert (multiple is None) is (row.probe not in {*MEASURED, "memory.latency"})
        assert multiple is None or multiple >= 4, row.probe
