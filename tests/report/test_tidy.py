"""``sizeup session export --tidy``: one row for each estimate of several sessions, as CSV and as Parquet."""

import csv
import io
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from report.sessions import records, written
from sizeup import cli
from sizeup.model.machine import CloudInstance, Platform
from sizeup.model.plan import Better, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.report.tidy import FIXED, column_names, read_table
from sizeup.session.records import (
    EstimateRecord,
    MachineRecord,
    OutcomeRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
)


def one_step(
    step: str, *estimates: Estimate, series: Series, status: Status = Status.OK, host: str = "db01"
) -> list[Record]:
    """A session of one step."""
    started = SessionRecord(1, f"id-{host}", "sizeup 0", host, "2026-01-31T23:59:59Z")
    return [
        started,
        StepStartRecord(10, Step(step, step.partition("~")[0], "A step", {}, 1, 2), "acme 1.0", (series,)),
        *(EstimateRecord(1_500_000_000, step, estimate) for estimate in estimates),
        OutcomeRecord(2_000_000_000, step, Outcome(status, "disk gone" if status is Status.FAILED else "")),
    ]


SEEK = Series("seek", "Seek time", "ns", Better.LOWER, quantities=(SeriesQuantity("acme.seek_time"),))


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_several_sessions_make_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = one_step("acme.seek~2", Estimate("seek", {"block bytes": 4096}, 1.5, 1.0, 2.0), series=SEEK)
    second = one_step(
        "acme.seek", Estimate("seek", {"zone": "in"}, 3.0), series=SEEK, status=Status.FAILED, host="db02"
    )
    paths = [written(tmp_path / "a.sizeup.jsonl", *first), written(tmp_path / "b.sizeup.jsonl", *second)]

    assert cli.run(["session", "export", *paths, "--format", "tidy-csv"]) == 0

    text = capsys.readouterr().out
    assert text.splitlines()[0] == ",".join([*FIXED, "at_block_bytes", "at_zone"])
    one, two = table(text)
    assert one == {
        "host": "db01", "machine_type": "", "session": "id-db01", "time": "2026-02-01T00:00:00.500Z",
        "probe": "acme.seek", "step": "acme.seek", "run": "2", "series": "seek", "quantity": "acme.seek_time",
        "unit": "ns", "better": "lower", "value": "1.5", "low": "1.0", "high": "2.0", "status": "valid", "reason": "",
        "at_block_bytes": "4096", "at_zone": "",
    }  # fmt: skip
    assert (two["host"], two["run"], two["low"], two["at_zone"]) == ("db02", "1", "", "in")
    assert (two["status"], two["reason"]) == ("not valid", "its step failed (disk gone)")


def test_an_estimate_of_which_a_quantity_means_another_figure_has_two_rows(tmp_path: Path) -> None:
    declared = replace(SEEK, quantities=(SeriesQuantity("acme.cpu_time", extra="cpu_ns"),))
    estimate = Estimate("seek", {}, 1.5, 1.0, 2.0, extra={"cpu_ns": 7})
    rows = read_table([written(tmp_path / "a", *one_step("acme.seek", estimate, series=declared))]).rows

    assert [(row.quantity, row.value, row.low) for row in rows] == [(None, 1.5, 1.0), ("acme.cpu_time", 7.0, None)]


def test_a_point_without_an_estimate_has_the_median_of_its_samples(tmp_path: Path) -> None:
    found = one_step("acme.seek", series=SEEK)
    found.insert(2, SamplesRecord("acme.seek", "seek", {}, (1, 2, 3), (5.0, 1.0, 2.0)))

    (row,) = read_table([written(tmp_path / "a", *found)]).rows

    assert (row.value, row.low, str(row.time)) == (2.0, None, "2026-02-01 00:00:01")


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        (Platform(model="PowerEdge R750"), "PowerEdge R750, Xeon"),
        (Platform(model="x", cloud=CloudInstance("aws", "DMI", "m5.large")), "m5.large"),
        (Platform(cloud=CloudInstance("aws", "DMI")), "Xeon"),
    ],
)
def test_the_type_of_the_machine_is_that_of_the_cloud_or_the_model(
    platform: Platform, expected: str | None, tmp_path: Path
) -> None:
    found = one_step("acme.seek", Estimate("seek", {}, 1.0), series=SEEK)
    machine = next(record.machine for record in records() if isinstance(record, MachineRecord))
    found.insert(1, MachineRecord(2, replace(machine, platform=platform, cpu_model="Xeon")))

    assert read_table([written(tmp_path / "a", *found)]).rows[0].machine_type == expected


def test_coordinates_get_columns_that_need_no_quotes_and_differ_in_any_case() -> None:
    assert column_names(["a b", "a.b", "A_B", "größe"]) == {
        "a b": "at_a_b",
        "a.b": "at_a_b_2",
        "A_B": "at_A_B_3",
        "größe": "at_gr__e",
    }


def test_a_shared_session_gives_a_table_without_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    at = {"path": "/oracle/secret/data1", "target": "/oracle/secret/data2"}
    found = one_step("acme.seek", Estimate("seek", at, 1.0), series=SEEK, host="payroll7", status=Status.FAILED)
    path, shared, out = (str(tmp_path / name) for name in ("a.sizeup.jsonl", "s.sizeup.jsonl.gz", "out"))
    written(Path(path), *found)

    assert cli.run(["session", "export", path, "--format", "share", "-o", shared]) == 0
    for arguments in (["--format", "tidy-csv"], ["--format", "openmetrics"]):
        assert cli.run(["session", "export", shared, *arguments, "-o", out]) == 0
        text = Path(out).read_text()
        assert "host-" in text
        assert "path-" in text
        assert not [word for word in ("payroll7", "oracle", "secret", "data1", "data2") if word in text]


def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "a", *one_step("acme.seek", Estimate("seek", {"x": "=1+1"}, -1.0), series=SEEK))

    assert cli.run(["session", "export", path, "--format", "tidy-csv"]) == 0

    (row,) = table(capsys.readouterr().out)
    assert (row["at_x"], row["value"]) == ("'=1+1", "-1.0")


@pytest.mark.ci
def test_parquet_has_the_same_rows_with_types(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="Parquet needs DuckDB (extra fleet)")
    text = 'a "quoted", line\nand =1\\'
    first = one_step(
        "acme.seek", Estimate("seek", {"size": 2**40, "word": text, "share": 0.5}, 1.5, 1.0, 2.0), series=SEEK
    )
    second = one_step("acme.seek", Estimate("seek", {"word": "", "share": 1}, 3.0), series=SEEK, host="db02")
    paths = [written(tmp_path / "a", *first), written(tmp_path / "b", *second)]
    out = tmp_path / "it's.parquet"

    assert cli.run(["session", "export", *paths, "--format", "tidy-parquet", "-o", str(out)]) == 0

    relation = duckdb.read_parquet(str(out))
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    coordinates = {"at_share": "DOUBLE", "at_size": "BIGINT", "at_word": "VARCHAR"}
    assert kinds == {**FIXED, **coordinates}
    one, two = (dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall())
    assert (one["at_size"], one["at_word"], one["at_share"]) == (2**40, text, 0.5)
    assert (two["at_size"], two["at_word"], two["at_share"]) == (None, "", 1.0)
    assert str(one["time"]) == "2026-02-01 00:00:00.500000"
    assert (two["host"], two["low"], two["run"], two["machine_type"]) == ("db02", None, 1, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "tidy-parquet"],
            "Parquet needs DuckDB, which is not installed; install it with: pip install 'sizeup[fleet]'",
        ),
        (["--format", "excel"], "argument --format: invalid choice: 'excel'"),
        (["{path}", "--json"], "expected one session, found 2; for one table of several add --format tidy-csv"),
        (["--format", "tidy-csv", "--recompute"], "--recompute has no effect on the format tidy-csv"),
        (["--format", "openmetrics", "--set", "workload.iops=1"], "--set has no effect on the format openmetrics"),
        (["--format", "tidy-csv", "--ascii"], "--ascii has no effect on the format tidy-csv"),
        (["--format", "tidy-csv", "-o", "{path}"], "would overwrite a file that is read"),
        (["{empty}", "--format", "tidy-csv", "--step", "x"], "--step has no effect on the format tidy-csv"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    names = {"path": written(tmp_path / "a", *records()), "empty": str(tmp_path / "empty")}

    assert cli.run(["session", "export", names["path"], *(argument.format(**names) for argument in arguments)]) == 2

    assert message in capsys.readouterr().err


def test_sessions_without_estimates_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a", *one_step("acme.seek", series=SEEK))

    assert cli.run(["session", "export", path, "--format", "tidy-csv", "-o", str(tmp_path / "out")]) == 2

    assert "no session has an estimate" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
