"""The console asks for a run with the options that the command line reads."""

from pathlib import Path

import pytest

from sizeup.cli.parser import build_parser
from sizeup.cli.start import spec_of
from sizeup.engine.spec import RunSpec
from sizeup.model.plan import Gentle


@pytest.mark.parametrize(
    "spec",
    [
        RunSpec(),
        RunSpec(plan="quick", probes=("null",), assignments=("null.samples=5", "null.interval=1ms"), append="a b"),
        RunSpec(plan="full", probes=("null", "clock.cost"), rounds=3, output="-", only_builtin=True),
        RunSpec(gentle=Gentle(iops=50.0, bytes_per_second=2e6)),
        RunSpec(full_load=True),
        RunSpec(start_at="1800000000", control=True, output="x"),
    ],
)
def test_what_is_asked_for_is_what_runs(spec: RunSpec) -> None:
    assert spec_of(build_parser("run").parse_args(spec.options())) == spec


def test_the_mount_that_is_asked_for_is_the_one_that_runs(tmp_path: Path) -> None:
    spec = RunSpec(plan="quick", mount=str(tmp_path))  # The command line refuses one that it cannot write to.

    assert spec_of(build_parser("run").parse_args(spec.options())) == spec


def test_a_session_is_resumed_by_its_own_plan() -> None:
    assert RunSpec(resume="x", control=True).options() == ["--control", "--resume", "x"]
