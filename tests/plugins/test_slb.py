"""The published figures of the Silly Little Benchmark, from their inputs."""

from __future__ import annotations

import pytest

from sizeup_memory.memhammer import main
from sizeup_memory.slb import ns_per_op, ops_per_second, output_line, scaling, total_ops, verdict

E5320_ONE_PROCESS_US = 103_240_338


def test_pages_times_loops_are_the_published_operations() -> None:
    assert total_ops(131072, 6000) == 786_432_000


def test_the_published_time_gives_the_published_cost_and_throughput() -> None:
    ops = total_ops(131072, 6000)

    assert round(ns_per_op(ops, E5320_ONE_PROCESS_US), 1) == 131.3
    assert round(ops_per_second(ops, E5320_ONE_PROCESS_US), 2) == 7_617_487.65


def test_the_output_line_has_the_original_fields_in_order() -> None:
    assert output_line(786_432_000, E5320_ONE_PROCESS_US) == (
        "Total ops 786432000  Avg nsec/op   131.3  gettimeofday usec 103240338 TPUT ops/sec 7617487.7"
    )


def test_the_published_scaling_is_saturated_by_one_process() -> None:
    speedups = scaling(
        {
            1: 7_617_487.7,
            2: 3_992_992.8 + 3_989_574.4,
            4: 1_985_888.7 + 1_985_821.2 + 1_981_665.4 + 1_979_832.3,
        }
    )

    assert {count: round(gain, 3) for count, gain in speedups.items()} == {1: 1.0, 2: 1.048, 4: 1.041}
    assert verdict(speedups) == "one process already saturates memory: S(4) = 1.041"


def test_memory_that_scales_and_memory_that_tires_are_told_apart() -> None:
    assert verdict({1: 1.0, 2: 1.99, 4: 3.9}) == "memory scales with the processes: S(4) = 3.90 of 4"
    assert verdict({1: 1.0, 2: 1.9, 4: 2.0, 8: 2.05}) == ("2 of 8 processes reach nine tenths of the most, S(2) = 1.90")
    assert verdict({1: 1.0}) == "only one process was run, so nothing is known of scaling"


def test_the_command_prints_one_line_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["256", "10"]) == 0

    words = capsys.readouterr().out.split()
    assert words[:3] == ["Total", "ops", "2560"]
    assert words[3:5] + words[6:8] + words[9:11] == ["Avg", "nsec/op", "gettimeofday", "usec", "TPUT", "ops/sec"]


def test_the_command_says_why_it_cannot_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["256", "10", "--cpus", "8000"]) == 3
    assert "cannot run on CPU 8000" in capsys.readouterr().err


def test_the_command_rejects_what_is_no_count(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["0", "10"])
    assert stopped.value.code == 2
    assert "expected a count of at least 1, found 0" in capsys.readouterr().err
