"""The published figures of the Silly Little Benchmark, from their inputs."""

import os
import subprocess
import sys

import pytest

from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate
from sizeup_memory.binding import Allocation, Hammer, HammerResult, Pages, new_job
from sizeup_memory.hammer import HammerPoint, output_line, scaling, scaling_summary
from sizeup_memory.memhammer import main

E5320_ONE_PROCESS_US = 103_240_338


def result(ops: int) -> HammerResult:
    return HammerResult(ops, 0, 0, E5320_ONE_PROCESS_US, 0, 0)


def test_the_published_time_gives_the_published_cost_and_throughput() -> None:
    ops = 131_072 * 6_000

    assert round(result(ops).ns_per_op, 1) == 131.3
    assert round(result(ops).ops_per_second, 2) == 7_617_487.65


def test_the_output_line_has_the_original_fields_in_order() -> None:
    assert output_line(result(786_432_000)) == (
        "Total ops 786432000  Avg nsec/op   131.3  gettimeofday usec 103240338 TPUT ops/sec 7617487.7"
    )


def test_the_published_scaling_is_saturated_by_one_process() -> None:
    totals = {1: 7_617_487.7, 2: 3_992_992.8 + 3_989_574.4, 4: 1_985_888.7 + 1_985_821.2 + 1_981_665.4 + 1_979_832.3}
    found = list(scaling({HammerPoint(count, 131_072): total for count, total in totals.items()}))
    speedups = {one.at["processes"]: one.value for one in found if isinstance(one, Estimate)}

    assert {count: round(gain, 3) for count, gain in speedups.items()} == {1: 1.0, 2: 1.048, 4: 1.041}
    assert scaling_summary(speedups) == "one process already saturates memory: S(4) = 1.041"


def test_memory_that_scales_and_memory_that_tires_are_told_apart() -> None:
    assert scaling_summary({1: 1.0, 2: 1.99, 4: 3.9}) == "memory scales with the processes: S(4) = 3.90 of 4"
    assert scaling_summary({1: 1.0, 2: 1.9, 4: 2.0, 8: 2.05}) == (
        "2 of 8 processes reach nine tenths of the most, S(2) = 1.90"
    )
    assert scaling_summary({1: 1.0, 2: 1.8, 4: 2.0}).startswith("2 of 4 processes reach nine tenths"), "just so many"
    assert scaling_summary({1: 1.0, 2: 1.8}) == "memory scales with the processes: S(2) = 1.80 of 2"
    assert scaling_summary({1: 1.0, 2: 1.1}).startswith("1 of 2 processes reach"), "a tenth is a gain"


def test_one_process_alone_has_a_speedup_and_no_finding() -> None:
    (found,) = scaling({HammerPoint(1, 16): 3.0})

    assert isinstance(found, Estimate)
    assert (found.value, dict(found.extra)) == (1.0, {})


def test_three_sizes_of_memory_have_no_common_speedup() -> None:
    (found,) = scaling({HammerPoint(1, 64): 3.0, HammerPoint(1, 32): 4.0, HammerPoint(2, 16): 9.0})

    assert isinstance(found, Gap)
    assert found.reason.startswith("processes had 64 KiB to 256 KiB each")
    (found,) = scaling({HammerPoint(1, 64): 3.0, HammerPoint(2, 16): 9.0})
    assert isinstance(found, Gap), "no number of processes had both"


def test_the_command_prints_one_line_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["256", "10"]) == 0

    words = capsys.readouterr().out.split()
    assert words[:3] == ["Total", "ops", "2560"]
    assert words[3:5] + words[6:8] + words[9:11] == ["Avg", "nsec/op", "gettimeofday", "usec", "TPUT", "ops/sec"]


def test_the_command_says_why_it_cannot_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["256", "10", "--cpus", "8000"]) == 3
    assert "cannot run on CPU 8000" in capsys.readouterr().err


@pytest.mark.parametrize("pages", ["0", "-1", "x", "1e3", "", "9" * 30, "1" * 5000, str(10**12 + 1)])
@pytest.mark.parametrize("where", ["PAGES", "LOOPS"])
def test_the_command_rejects_what_is_no_count(where: str, pages: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([pages, "1"] if where == "PAGES" else ["1", pages])

    assert stopped.value.code == 2
    captured = capsys.readouterr().err
    assert "expected a whole number from 1 to 1,000,000,000,000" in captured or (pages == "-1" and "-1" in captured)
    assert where in captured or pages == "-1"


@pytest.mark.parametrize("cpus", ["x", "", "3-1", "-1", "0-", "0-99999999999", "0-9999", "9" * 40, "0,,1"])
def test_the_command_rejects_what_is_no_list_of_cpus(cpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["16", "1", f"--cpus={cpus}"])

    assert stopped.value.code == 2
    assert "expected a CPU list such as 0-3,8 of at most 1024 CPUs" in capsys.readouterr().err


def test_the_smallest_run_is_timed_or_told_to_be_too_short(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["1", "1"])

    captured = capsys.readouterr()
    assert (status == 0 and captured.out.startswith("Total ops 1 ")) or (
        status == 3 and captured.err.startswith("sizeup-memhammer: 1 stores took less than 1 us, too short to be timed")
    )


def test_no_time_at_all_is_told_and_never_divided_by(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Hammer, "results", lambda _: (HammerResult(16, 5, 9, 0, 4, 0),))

    assert main(["16", "1"]) == 3
    assert "16 stores took less than 1 us" in capsys.readouterr().err


@pytest.mark.parametrize(("cpu_ns", "share"), [(149, 1.0), (100, 1.0), (60, 0.6), (0, 0.0)])
def test_a_process_uses_at_most_its_cpu(cpu_ns: int, share: float) -> None:
    assert HammerResult(16, 1000, 1100, 1, cpu_ns, 0).cpu_share == share


def test_the_cpu_share_of_a_real_run_is_a_share() -> None:
    hammer = Hammer(1, 1, [min(os.sched_getaffinity(0))], Allocation(Pages.BASE))
    assert hammer.call(new_job())() == 0

    (result,) = hammer.results()
    assert 0 <= result.cpu_share <= 1
    assert result.cpu_ns <= result.end_ns - result.start_ns + 1000


@pytest.mark.parametrize(("pages", "loops"), [(10**12, 10**12), (1 << 51, 1), (4, 1 << 61)])
def test_more_than_can_be_counted_or_held_is_refused(pages: int, loops: int) -> None:
    job = new_job()

    assert Hammer(pages, loops, [0], Allocation(Pages.BASE)).call(job)() < 0
    assert "exceed the range" in job.reason or "not enough memory" in job.reason


@pytest.mark.parametrize(
    ("streams", "status", "words"),
    [
        (">/dev/full", 2, "cannot write: No space left on device"),
        *(
            pytest.param(*case, marks=pytest.mark.ci)
            for case in ((">&-", 2, "cannot write: it is closed"), (">/dev/null 2>&-", 0, ""), (">&- 2>&-", 2, ""))
        ),
    ],
)
def test_a_stream_that_takes_nothing_is_said_and_no_traceback(streams: str, status: int, words: str) -> None:
    command = (
        f'exec "$1" -c "import sys; from sizeup_memory.memhammer import main; sys.exit(main())" 64 20000 {streams}'
    )

    done = subprocess.run(
        ["/bin/sh", "-c", command, "sh", sys.executable], capture_output=True, text=True, check=False, timeout=300
    )

    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert words in done.stderr
