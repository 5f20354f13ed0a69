"""What was delivered beside what was ordered."""

import json
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.delivery import delivered_parts
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.typed import parse_settings
from sizeup.sizing.rules import shipped

ORDER = (
    *("array.disks=4", "array.raid=10", "array.drive_iops=10000", "array.disk_gb=1000", "workload.read_percent=100"),
    *("path.stages=hba:fc32*2@2", "machine.cores=24", "machine.memory_gib=256"),
)


def statuses(delivered: dict[str, Value]) -> dict[str, tuple[str, float, float | None]]:
    order = size(parse_settings(ORDER))
    return {one.key: (one.status, one.ordered, one.found) for one in delivered_parts(order, size(delivered), shipped())}


def test_each_part_is_as_ordered_missing_slower_or_unknown() -> None:
    """Two ports of 3,200 MB/s were ordered, and 4 x 10,000 reads/s; 250 GiB are 97.7 % of 256."""
    measured: Value = Quantity(30_000, "1/s", Origin.MEASURED, "step", low=29_000, high=31_000)
    here = parse_settings(["array.disks=3", "path.stages=hba:fc32*1", "machine.cores=24", "machine.memory_gib=250"])

    found = statuses({**here, "capacity.iops": measured})

    assert found["array.disks"] == ("missing", 4, 3)
    assert found["path.bandwidth_mb_s"] == ("missing", 6.4e9, 3.2e9)
    assert found["machine.cores"] == ("as ordered", 24, 24)
    assert found["machine.memory_gib"][0] == "as ordered"
    assert found["capacity.iops"] == ("slower", 40_000, 30_000)
    assert found["capacity.gb"] == ("unknown", 2e12, None)
    assert statuses(parse_settings(["machine.memory_gib=240"]))["machine.memory_gib"][0] == "missing"


def test_a_measurement_whose_upper_end_reaches_the_order_is_as_ordered() -> None:
    measured: Value = Quantity(39_000, "1/s", Origin.MEASURED, "step", low=38_000, high=41_000)

    assert statuses({"capacity.iops": measured})["capacity.iops"][0] == "as ordered"


def test_an_order_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ["--set", "workload.iops=1000", "workload.cpu_cores=10"]
    assert cli.run(["size", "--design", *wanted, "-o", "order.toml"]) == 0
    capsys.readouterr()
    against = ["size", "--machine", "none", "--against", "order.toml"]
    assert cli.run([*against, "--set", "machine.cores=10", "--json"]) == 0
    parts = {one["key"]: one for one in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["machine.cores"]["ordered"], parts["machine.cores"]["status"]) == (15, "missing")  # 10 / 0.7 = 14.3
    assert cli.run([*against, "--set", "machine.cores=10"]) == 0
    assert "missing: 5" in capsys.readouterr().out

    Path("order.toml").write_text('schema = "sizeup.workload/1"\n[inputs]\n')
    assert cli.run(against) == 2
    assert "order.toml: expected sizeup.candidate/1" in capsys.readouterr().err
