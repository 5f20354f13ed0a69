"""``sizeup session export --openmetrics``: a text that OpenMetrics and the textfile collector of node_exporter read."""

import re
from pathlib import Path

import pytest

from report.sessions import records, written
from report.test_tidy import SEEK, one_step
from sizeup import cli
from sizeup.model.sample import Estimate
from sizeup.session.records import Record

SAMPLE = re.compile(
    r'([a-z_][a-z0-9_]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)'
)
HOSTILE = 'a\\b "c"\nd{e="f"} #'


def exported(tmp_path: Path, *found: Record) -> str:
    out = tmp_path / "sizeup.prom"
    assert (
        cli.run(["session", "export", written(tmp_path / "a", *found), "--format", "openmetrics", "-o", str(out)]) == 0
    )
    return out.read_text(encoding="utf-8")


def check(text: str) -> dict[str, dict[str, float]]:
    """Check a text by the rules of OpenMetrics and of Prometheus' format; its samples by metric and labels."""
    *lines, end, last = text.split("\n")
    assert (end, last) == ("# EOF", "")
    found: dict[str, dict[str, float]] = {}
    metric, labels_of = "", {}
    for line in lines:
        if line.startswith("# TYPE "):
            metric = line.split(" ")[2]
            assert line == f"# TYPE {metric} gauge"
            assert metric not in found, "the samples of a metric stand together"
            found[metric] = {}
        elif line.startswith("# UNIT "):
            assert line.startswith(f"# UNIT {metric} ")
            assert metric.endswith(f"_{line.split(' ')[3]}")
        elif line.startswith("# HELP "):
            assert line.startswith(f"# HELP {metric} ")
            assert not found[metric]
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == metric
            names = re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', match[2] or "")
            assert len(names) == len(set(names))
            assert labels_of.setdefault(metric, names) == names, "node_exporter wants the same labels"
            assert (match[2] or "") not in found[metric], "each sample once"
            found[metric][match[2] or ""] = float(match[3])
    return found


def test_units_are_those_of_prometheus_and_intervals_are_metrics_of_their_own(tmp_path: Path) -> None:
    found = check(
        exported(tmp_path, *one_step("acme.seek~2", Estimate("seek", {"size": 4}, 1500, 1000, 2000), series=SEEK))
    )

    labels = 'probe="acme.seek",step="acme.seek",run="2",series="seek",status="valid",at_size="4"'
    assert found["sizeup_acme_seek_time_seconds"] == {labels: pytest.approx(1.5e-6)}
    assert found["sizeup_acme_seek_time_low_seconds"] == {labels: pytest.approx(1e-6)}
    assert found["sizeup_acme_seek_time_high_seconds"] == {labels: pytest.approx(2e-6)}
    assert found["sizeup_session_timestamp_seconds"] == {"": 1769904000.5}
    assert list(found["sizeup_session_info"]) == ['session="id-db01",host="db01",tool="sizeup 0",machine_type=""']


@pytest.mark.parametrize("word", ["", HOSTILE])
def test_a_whole_session_is_well_formed(word: str, tmp_path: Path) -> None:
    found = check(exported(tmp_path, *records(word)))

    assert len(found) > 3


def test_a_hostile_coordinate_stays_within_its_label(tmp_path: Path) -> None:
    at = {HOSTILE: HOSTILE, "a": 'x"} 1\nevil 1'}
    found = check(exported(tmp_path, *one_step("acme.seek", Estimate("seek", at, 1500), series=SEEK)))

    assert "evil" not in found


@pytest.mark.parametrize("word", ["", HOSTILE])
def test_the_parsers_of_prometheus_read_it(word: str, tmp_path: Path) -> None:
    strict = pytest.importorskip("prometheus_client.openmetrics.parser", reason="a second judge, where it is installed")
    from prometheus_client.parser import text_string_to_metric_families

    text = exported(tmp_path, *records(word))
    samples = {name: set(values.values()) for name, values in check(text).items()}

    for families in (strict.text_string_to_metric_families(text), text_string_to_metric_families(text)):
        read = {family.name: {sample.value for sample in family.samples} for family in families}
        assert read == samples
