"""Workloads from pasted rows of Oracle's views, as CSV and as columns of SQL*Plus."""

from collections.abc import Mapping

import pytest

from sizeup.errors import SizeupError
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.importers.oracle_views import parse_views
from sizeup.quantity import Quantity, Words
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

STARTED = "2026-11-01 06:00:00"
ZERO = {
    "physical read total bytes": 10_000_000_000,
    "physical write total bytes": 5_000_000_000,
    "physical read total IO requests": 1_000_000,
    "physical write total IO requests": 400_000,
    "redo size": 900_000_000,
    "redo writes": 70_000,
}
# An hour later: 3,600 times these.
A_SECOND = {
    "physical read total bytes": 250_000_000,
    "physical write total bytes": 35_000_000,
    "physical read total IO requests": 10_000,
    "physical write total IO requests": 3_500,
    "redo size": 2_000_000,
    "redo writes": 500,
}
BLOCKS = {
    "physical read total multi block requests": 2_000,
    "physical reads": 25_000,
    "physical read bytes": 25_000 * 8192,
}
LOAD = LoadInterval(
    bytes_per_second=283_000_000,  # 250 MB + 35 MB - 2 MB of redo
    requests_per_second=13_000,  # 10,000 + 3,500 - 500 redo writes
    read_share=10_000 / 13_000,
    read_share_of_bytes=250 / 283,
    redo_bytes_per_second=2_000_000,
    redo_writes_per_second=500,
)


def after(hours: float, blocks: bool = False) -> dict[str, int]:
    start = {**ZERO, **dict.fromkeys(BLOCKS, 0)} if blocks else ZERO
    rates = {**A_SECOND, **BLOCKS} if blocks else A_SECOND
    return {name: value + round(3600 * hours * rates[name]) for name, value in start.items()}


def snapshot(
    time: str, values: Mapping[str, int], snap: int | None = None, instance: int = 1, started: str = STARTED
) -> list[tuple[object, ...]]:
    number = () if snap is None else (snap,)
    return [(*number, instance, started, f"2026-11-24 {time}:00", name, value) for name, value in values.items()]


def csv(*parts: list[tuple[object, ...]], header: str = "") -> str:
    rows = [row for part in parts for row in part]
    names = header.split() or ["INSTANCE_NUMBER", "STARTUP_TIME", "SNAP_TIME", "STAT_NAME", "VALUE"]
    names = ["SNAP_ID", *names] if not header and len(rows[0]) == 6 else names
    lines = [",".join(f'"{name}"' for name in names)]
    lines += [",".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row) for row in rows]
    return "SQL> set markup csv on\n\n" + "\n".join(lines) + f"\n\n{len(rows)} rows selected.\n"


def columns(*parts: list[tuple[object, ...]], header: str = "") -> str:
    """The same as SQL*Plus prints it: a heading on each page, numbers at the right."""
    rows = [row for part in parts for row in part]
    names = header.split() or ["INSTANCE_NUMBER", "STARTUP_TIME", "SNAP_TIME", "STAT_NAME", "VALUE"]
    names = ["SNAP_ID", *names] if not header and len(rows[0]) == 6 else names
    widths = [64 if isinstance(cell, str) and not cell[:1].isdigit() else 24 for cell in rows[0]]
    heading = " ".join(
        f"{name:<{width}}" if isinstance(cell, str) else f"{name:>{width}}"
        for name, cell, width in zip(names, rows[0], widths, strict=True)
    )
    lines = []
    for number, row in enumerate(rows):
        if number % 5 == 0:
            lines += ["", heading, " ".join("-" * width for width in widths)]
        lines.append(
            " ".join(
                f"{cell:<{width}}" if isinstance(cell, str) else f"{cell:>{width}}"
                for cell, width in zip(row, widths, strict=True)
            )
        )
    return "\n".join([*lines, "", f"{len(rows)} rows selected.", ""])


def parse(text: str) -> Intervals:
    return parse_views([(text, "rows.txt")])


@pytest.mark.parametrize("form", [csv, columns])
def test_two_snapshots_of_v_sysstat_are_an_interval(form: object) -> None:
    assert callable(form)
    found = parse(form(snapshot("10:00", ZERO), snapshot("11:00", after(1))))

    assert found.intervals == (LOAD,)
    assert found.caveats == ()
    assert not found.one_instance


def test_snapshots_in_two_files_are_an_interval_whichever_is_first() -> None:
    texts = (csv(snapshot("11:00", after(1))), csv(snapshot("10:00", ZERO)))
    values = read_workload(tuple(WorkloadFile(f"{n}.csv", text) for n, text in enumerate(texts)), 95)

    assert {key: one.value for key, one in values.items() if isinstance(one, Quantity)} == {
        "workload.mb_s": 283e6,
        "workload.iops": 13_000,
        "workload.read_percent": pytest.approx(10 / 13),
        "workload.read_bytes_percent": pytest.approx(250 / 283),
        "redo.mb_s": 2e6,
        "redo.writes_s": 500,
    }


def test_one_snapshot_is_the_mean_since_the_start() -> None:
    # Two hours after the start the counters have two hours of the load.
    values = {name: 7200 * rate for name, rate in A_SECOND.items()}
    found = parse(csv(snapshot("12:00", values, started="2026-11-24 10:00:00")))

    assert found.intervals == (LOAD,)
    assert found.caveats == ("instance 1: the mean since its start at 2026-11-24 10:00:00: take two snapshots",)


def test_requests_of_several_blocks_count_as_sequential_where_the_size_of_a_block_follows() -> None:
    # While one counter was read the other went on: 8,200 bytes for each of the reads.
    later = after(1, blocks=True)
    later["physical read bytes"] += 3600 * 25_000 * 8
    found = parse(csv(snapshot("10:00", after(0, blocks=True)), snapshot("11:00", later)))
    (one,) = found.intervals

    assert one.requests_per_second == 8_000 + 3_000
    assert one.sequential_bytes_per_second == 250_000_000 - 8_000 * 8192
    assert [(stated.key, stated.value) for stated in found.stated] == [("workload.io_kib", 8192)]


@pytest.mark.parametrize("form", [csv, columns])
def test_instances_of_a_snapshot_are_added_up_and_a_restart_splits_there(form: object) -> None:
    assert callable(form)
    restarted = "2026-11-24 10:30:00"
    found = parse(
        form(
            *(snapshot(f"{9 + n}:00".zfill(5), after(n), 100 + n) for n in range(4)),
            snapshot("09:00", ZERO, 100, 2),
            snapshot("10:00", after(1), 101, 2),
            snapshot("11:00", ZERO, 102, 2, restarted),
            snapshot("12:00", after(1), 103, 2, restarted),
        )
    )

    # 09 to 10 and 11 to 12 have both instances; from 10 to 11 the second one restarted.
    assert [one.requests_per_second for one in found.intervals] == [26_000, 13_000, 26_000]
    assert [one.bytes_per_second for one in found.intervals] == [566e6, 283e6, 566e6]
    assert "instance 2 restarted between 2026-11-24 10:00:00 and 2026-11-24 11:00:00: left out" in found.caveats
    assert any("Diagnostics Pack" in caveat for caveat in found.caveats)
    assert found.one_instance


def test_a_counter_that_shrank_splits_where_the_start_is_not_selected() -> None:
    header = "INST_ID SNAP_TIME NAME VALUE STATISTIC#"
    parts = [
        [(1, row[2], row[3], row[4], 7) for row in snapshot(time, values)]
        for time, values in (("09:00", after(5)), ("10:00", ZERO), ("11:00", after(1)))
    ]
    found = parse(csv(*parts, header=header))

    assert found.intervals == (LOAD,)
    assert found.caveats == ("instance 1 restarted between 2026-11-24 09:00:00 and 2026-11-24 10:00:00: left out",)


METRICS = {
    "Physical Read Total Bytes Per Sec": ("Bytes Per Second", 250e6, 400e6),
    "Physical Write Total Bytes Per Sec": ("Bytes Per Second", 35e6, 50e6),
    "Physical Read Total IO Requests Per Sec": ("Requests Per Second", 10_000, 16_000),
    "Physical Write Total IO Requests Per Sec": ("Requests Per Second", 3_500, 5_000),
    "Redo Generated Per Sec": ("Bytes Per Second", 2e6, 6e6),
    "Redo Writes Per Sec": ("Writes Per Second", 500, 900),
    "Host CPU Utilization (%)": ("% Busy/(Idle+Busy)", 25.0, 60.0),
    "User Commits Per Sec": ("Commits Per Second", 77, 99),
}
SUMMARY = "SNAP_ID INSTANCE_NUMBER END_TIME METRIC_NAME METRIC_UNIT AVERAGE MAXVAL"


def metrics(snap: int, time: str, share: float = 1, instance: int = 1) -> list[tuple[object, ...]]:
    return [
        (snap, instance, f"2026-11-24 {time}:00", name, unit, share * average, share * most)
        for name, (unit, average, most) in METRICS.items()
    ]


@pytest.mark.parametrize("form", [csv, columns])
def test_metrics_have_an_average_and_the_largest_for_the_upper_end(form: object) -> None:
    assert callable(form)
    text = form(metrics(7, "10:00"), metrics(8, "11:00", 0.5), header=SUMMARY)
    values = read_workload((WorkloadFile("metrics.txt", text),), 95, cores=16)

    def of(key: str) -> tuple[float | None, ...]:
        found = values[key]
        assert isinstance(found, Quantity)
        return (found.low, found.value, found.high)

    # Of two intervals the median is the lower; 400 + 50 - 6 MB/s and 16,000 + 5,000 - 900 requests are the largest.
    assert of("workload.mb_s") == (141.5e6, 283e6, 444e6)
    assert of("workload.iops") == (6_500, 13_000, 20_100)
    assert of("workload.cpu_cores") == (2.0, 4.0, pytest.approx(9.6))
    assert of("redo.mb_s") == (1e6, 2e6, 6e6)


def test_metrics_of_two_instances_are_added_up() -> None:
    found = parse(csv(metrics(7, "10:00"), metrics(7, "10:00", 0.5, 2), header=SUMMARY))

    assert [one.requests_per_second for one in found.intervals] == [19_500]
    assert [one.requests_per_second for one in found.peaks] == [30_150]
    assert "the figures of 2 instances of a cluster were added up" in found.caveats


def test_a_whole_cluster_needs_no_caveat_of_its_scope() -> None:
    values = read_workload(
        (WorkloadFile("x.csv", csv(metrics(7, "10:00"), metrics(7, "10:00", 0.5, 2), header=SUMMARY)),), 95
    )

    assert not isinstance(values.get("workload.scope"), Words)


TWO = csv(snapshot("10:00", ZERO, 100), snapshot("11:00", after(1), 101))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (TWO[: TWO.index('101,1,"2026-11-01 06:00:00","2026-11-24 11:00:00","redo size"')],
         "x.txt: line 13: expected redo size, redo writes of instance 1 at 2026-11-24 11:00:00, found none: the rows"),
        (TWO[: TWO.rindex(',"redo writes"')], "line 15: expected 6 columns, found 4"),
        (TWO.replace(",900000000\n", ",9.0E+08\n"), "line 8: expected a number such as 1234.5 with all its di"),
        (TWO.replace(",900000000\n", ',"900.000.000"\n'), "found '900.000.000'; set numwidth 24 and NLS_NUMERIC_CHARA"),
        (TWO.replace("2026-11-24 11:00:00", "24-NOV-26 11.00.00 AM"),
         "line 10: expected a time such as 2026-11-24 13:00:00, found '24-NOV-26 11.00.00 AM'"),
        (csv(snapshot("10:00", after(1), 100), snapshot("11:00", ZERO, 101)),
         "line 10: expected physical read total bytes of at least 910000000000, as at 2026-11-24 10:00:00 with"),
        (csv(snapshot("10:00", after(1)), snapshot("11:00", ZERO, started="2026-11-24 10:10:00")),
         "expected two snapshots of instance 1 without a restart between them"),
        (csv([row[:1] + row[2:] for row in snapshot("10:00", ZERO)], header="INST_ID SNAP_TIME STAT_NAME VALUE"),
         "instance 1 without a restart between them, or one with STARTUP_TIME, found 2026-11-24 10:00:00"),
        (csv(snapshot("10:00", ZERO), snapshot("10:00", after(1))), "line 10: expected one value of physical read"),
        ('"STATISTIC#","NAME","CLASS","VALUE"\n1,"redo size",2,5\n', "line 1: expected a column SNAP_TIME, found STAT"),
        ('"SNAP_TIME","STAT_NAME","VALUE"\n', "expected rows of physical read total IO requests, "),
        (csv(metrics(7, "10:00"), header=SUMMARY).replace("Requests Per Second", "Requests Per Txn"),
         "expected the unit Requests Per Second of Physical Read Total IO Requests Per Sec, found Requests Per Txn"),
    ],
)  # fmt: skip
def test_rows_that_are_cut_rounded_or_contradict_each_other_are_refused(text: str, what: str) -> None:
    with pytest.raises(SizeupError) as refused:
        read_workload((WorkloadFile("x.txt", text),), 95)
    assert str(refused.value).startswith("x.txt: ")
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_statement_above_each_result_is_passed_over() -> None:
    one, two = csv(snapshot("10:00", ZERO)), csv(snapshot("11:00", after(1)))
    statement = (
        "SQL> select i.instance_number, s.name stat_name, s.value\n  2    from a, b\n  3   where x in ('1', '2');\n"
    )

    assert parse(statement + one + statement + two).intervals == (LOAD,)
