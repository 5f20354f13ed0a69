"""A comparison leads with figures that people name, and with what follows from them in plain words."""

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.batch.standard_output import comparison_lines
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Comparison, Conclusion
from sizeup.compare.digest import Digest, digest, epoch
from sizeup.compare.headlines import headlines
from sizeup.compare.profile import machine_figures
from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.quantity import Quantity
from sizeup.session.records import NoteRecord, SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.comparison.answer import conclusion_lines, headline_table
from sizeup.views.comparison.comparison import comparison_data


def step_run(probe: str, name: str, *estimates: tuple[str, Coordinates, float], **settings: str | int) -> StepRun:
    """A finished step of one of the probes that come with sizeup, whose figures are made up."""
    step = Step(name, probe, name, settings, 1.0, 2.0)
    declaration = declaration_of(probe)
    run = StepRun(step, "sizeup 0", series_of(probe), "curve", 0, outcome=Outcome(Status.OK), declaration=declaration)
    for series, at, value in estimates:
        run.points[point_key(series, at)] = Point(series, at, estimate=Estimate(series, at, value))
    return run


def memory(name: str, dram: float) -> StepRun:
    levels = {"L1": 1.0, "L2": 4.0, "L3": 20.0, "DRAM": dram}
    curve = [("dram-thp", {"working_set_bytes": 1 << power}, float(power)) for power in range(14, 24)]
    return step_run("memory.latency", name, *(("dram-thp-level", {"level": level}, value)
                                              for level, value in levels.items()), *curve)  # fmt: skip


def storage(name: str, *points: tuple[int, float, float]) -> StepRun:
    """Random reads by queue depth: IOPS, and p99 in milliseconds."""
    found: list[tuple[str, Coordinates, float]] = []
    for depth, iops, p99 in points:
        at: Coordinates = {"workload": "oltp-read", "queue_depth": depth}
        found += [("iops", at, iops), ("latency-p99", {**at, "direction": "read"}, p99 * 1e6)]
    return step_run("io.direct", name, *found)


def session(number: int, *runs: StepRun) -> Digest:
    header = SessionRecord(1, f"s{number}", "sizeup 0", "db01", f"2026-01-01T00:{number:02}:00Z")
    return digest(Session(header, steps={run.step.id: run for run in runs}), f"s{number}")


def side(values: Sequence[float], start: int) -> list[Digest]:
    return [session(start + number, memory("memory.latency", value)) for number, value in enumerate(values)]


FAST = [92.0, 93.0, 91.0, 92.5, 91.5, 92.2]


def compared(new: Sequence[float], baseline: Sequence[float] = FAST) -> Comparison:
    """Both sides in turns, so that nothing but the figures decides."""
    pairs = [
        (session(2 * number, memory("m", before)), session(2 * number + 1, memory("m", after)))
        for number, (before, after) in enumerate(zip(baseline, new, strict=True))
    ]
    return compare([after for _, after in pairs], [before for before, _ in pairs])


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    return list(headline_table(comparison).rows)


def test_the_named_figures_are_single_points_of_what_manifests_declare() -> None:
    pairs = [("handoff", {"cpu_a": 0, "cpu_b": other}, time) for other, time in ((1, 50.0), (2, 70.0), (3, 300.0))]
    storage_run = storage("d", (1, 9000.0, 0.2), (16, 80000.0, 1.0), (64, 95000.0, 3.0))
    runs = [memory("m", 92.0), storage_run, step_run("memory.core-to-core", "c", *pairs)]

    found = {one.series.title: (one.card, one.value) for one in headlines(runs)}

    assert found == {
        "Random read IOPS at p99 <= 1 ms": ("storage", 80000.0),
        "Random read IOPS, highest": ("storage", 95000.0),
        "Random read p99 at QD 1": ("storage", 0.2e6),
        "DRAM latency": ("memory", 92.0),
        "Core-to-core latency, median": ("cpu", 70.0),
    }


def test_the_notes_of_a_session_are_kept() -> None:
    header = SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z")
    notes = [NoteRecord(1, "calm"), NoteRecord(2, "", tags=("baseline",)), NoteRecord(3, "new disks")]

    assert digest(Session(header, notes=notes), "s").note == "calm; new disks"


@pytest.mark.parametrize(("megabytes", "named"), [(15, []), (16, ["DRAM latency"])])
def test_a_working_set_of_less_than_four_times_the_cache_is_no_memory(megabytes: int, named: list[str]) -> None:
    at: Coordinates = {"working_set_bytes": megabytes << 20}
    run = step_run("memory.latency", "m", ("dram-thp", at, 50.0), last_level_cache_bytes=4 << 20)

    assert [one.series.title for one in headlines([run])] == named


def test_a_lower_figure_that_is_valid_is_named_before_a_higher_one_that_is_not() -> None:
    run = storage("d", (1, 9000.0, 0.2), (64, 95000.0, 0.9))
    failed: Coordinates = {"workload": "oltp-read", "queue_depth": 64, "part": "steady"}
    run.points[point_key("validity", failed)] = Point("validity", failed, estimate=Estimate("validity", failed, 0.0))
    found = {one.series.title: (one.value, one.invalid) for one in headlines([run])}

    assert found["Random read IOPS, highest"] == found["Random read IOPS at p99 <= 1 ms"] == (9000.0, "")
    later = storage("d~2", (64, 95000.0, 0.9))
    later.points |= {key: point for key, point in run.points.items() if point.series == "validity"}
    known = machine_figures({}, runs=[run, later])["storage.random_iops"]
    assert isinstance(known, Quantity)
    assert known.value == 9000.0


def test_a_probe_without_quantities_has_its_headline_point_and_its_single_figures() -> None:
    plain = Series("gap", "Gap", "ns", Better.LOWER)
    curve = Series("curve", "Curve", "ns", Better.LOWER, "size", headline={"size": 2})
    step = Step("x", "other.probe", "Other", {}, 1.0, 2.0)
    run = StepRun(step, "other 1", {"gap": plain, "curve": curve}, "curve", 0, outcome=Outcome(Status.OK))
    for name, at, value in (("gap", {}, 5.0), ("curve", {"size": 1}, 1.0), ("curve", {"size": 2}, 2.0)):
        run.points[point_key(name, at)] = Point(name, at, estimate=Estimate(name, at, value))

    assert [(one.name, one.value) for one in headlines([run])] == [("other.probe.gap", 5.0), ("other.probe.curve", 2.0)]


def test_a_slower_side_is_told_with_its_change_and_the_noise() -> None:
    comparison = compared([value * 1.6 for value in FAST])

    assert conclusion_lines(comparison)[0] == "DRAM latency: 60 % longer since 1 Jan 00:00."
    assert rows(comparison) == [("Memory", "DRAM latency", "92.1 ns", "147 ns", "60 % longer", "±1.19 %", "▼ SLOWER")]


def test_a_faster_side_and_one_that_is_the_same() -> None:
    faster, same = compared([value * 0.8 for value in FAST]), compared([value + 0.1 for value in FAST])

    assert conclusion_lines(faster)[0] == "DRAM latency: 20 % shorter since 1 Jan 00:00."
    assert conclusion_lines(same) == ["No difference: a change of 7 % or more is excluded."]
    assert [rows(one)[0][-1] for one in (faster, same)] == ["▲ FASTER", "= SAME"]


def test_one_run_a_side_cannot_tell_and_says_how_many_could() -> None:
    comparison = compare([session(2, memory("m", 147.0))], [session(1, memory("m", 92.0))])

    assert conclusion_lines(comparison) == [
        "Too few runs: 1 before, 1 after; 4 of each is the least.",
        "Measure each side 3 more times, interleaved.",
    ]
    assert rows(comparison)[0][-3:] == ("147 ns", "60 % longer", "? CANNOT TELL")
    assert "Noise" not in [column.title for column in headline_table(comparison).columns]


def test_runs_that_scatter_cannot_tell_and_say_how_many_more_could() -> None:
    wide = [92.0, 120.0, 80.0, 105.0, 70.0, 98.0]

    line, step = conclusion_lines(compared([wide[-1], *wide[:-1]], wide))
    assert line.startswith("The runs differ by up to ±")
    assert re.fullmatch(r"Measure .* \d+ more .*\.", step)


def test_rounds_of_one_session_are_runs() -> None:
    one = session(1, *(memory(f"m~{number}" if number > 1 else "m", value) for number, value in enumerate(FAST, 1)))

    assert [named.run for named in one.headlines] == [f"s1~{number}" for number in range(1, 7)]
    assert {value.run for value in one.values} == {f"s1~{number}" for number in range(1, 7)}


def test_a_figure_is_of_when_its_step_began() -> None:
    late = memory("m", 92.0)
    late.started_ns = 90 * 10**9
    began = epoch("2026-01-01T00:01:30Z")

    assert {value.when for value in session(0, late).values} == {began}
    assert {named.when for named in session(0, late).headlines} == {began}


def test_no_mean_over_a_curve_is_a_headline_in_text_or_data() -> None:
    comparison = compared([value * 1.6 for value in FAST])
    text, data = "\n".join(comparison_lines(comparison)), comparison_data(comparison)

    assert "geometric mean" not in text
    assert "dram-thp" not in text
    assert text.splitlines()[0].startswith("DRAM latency: 60 % longer")
    assert "memory.latency.dram-thp" in "\n".join(comparison_lines(comparison, statistics=True))
    assert data["conclusion"] == conclusion_lines(comparison)
    assert [(figure["title"], figure["card"], figure["points"]) for figure in data["figures"]] == [
        ("DRAM latency", "memory", 1)
    ]


@pytest.mark.parametrize(("factor", "text"), [(1.6, "60 % longer"), (0.95, "5 % shorter"), (12.0, "12 times as long")])
def test_a_change_is_a_percentage_or_a_factor(factor: float, text: str) -> None:
    assert rows(compared([value * factor for value in FAST]))[0][4] == text


def custom(workload: str) -> StepRun:
    at: Coordinates = {"workload": workload, "queue_depth": 16}
    return step_run("io.direct", "io.direct.custom", ("iops", at, 5e4), ("rate", at, 2e8), block=len(workload))


def test_different_workloads_are_named_first_and_not_compared() -> None:
    small, large = session(1, custom("random read 4 KiB")), session(2, custom("random read 16 KiB"))
    comparison = compare([small], [large])
    lines = comparison_lines(comparison)

    assert conclusion_lines(comparison) == [
        "Different workloads, not compared: io.direct measured random read 16 KiB in A, random read 4 KiB in B"
    ]
    assert lines[0] == conclusion_lines(comparison)[0]
    assert not comparison.headlines
    assert len([line for line in lines if "parameters differ" in line]) == 1
    assert compare([small], [small]).other_workloads == ()
    words = conclusion_lines(compare([session(3, custom("oltp-read"))], [session(4, custom("redo"))]))[0]
    assert words.endswith("io.direct measured log writes in A, random read 8 KiB in B")


@pytest.mark.parametrize(
    ("invalid", "said"),
    [
        (("drift", "drift"), "A and B are not valid (drift)"),
        (("drift", "heat"), "A is not valid (heat) and B is not valid (drift)"),
        (("", "heat"), "A is not valid (heat)"),
    ],
)
def test_every_side_that_is_not_valid_is_named(invalid: tuple[str, str], said: str) -> None:
    comparison = compare(side(FAST, 1), side(FAST, 11))
    named = [replace(one, verdict=Conclusion.NOT_VALID, invalid=invalid) for one in comparison.headlines]

    *_, line = conclusion_lines(replace(comparison, headlines=tuple(named)))
    assert line.startswith(f"Not compared, as {said}: ")
