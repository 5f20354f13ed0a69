"""An accountant's test: each figure again from what ``sizeup size --json`` holds, and from nothing else."""

import json
import math

import pytest

from sizeup import cli

SERVER = (
    "machine.sockets=2",
    "machine.cores_per_socket=16",
    "machine.ghz=2.9",
    "machine.cpu_model=Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz",
    "path.stages=hba:fc16*2,array:fc8*2",
    "license.options=rac,partitioning",
    "license.discount_percent=40",
    "license.uplift_percent=4",
    "license.term_years=3",
)


@pytest.fixture
def answers(capsys: pytest.CaptureFixture[str]) -> dict[str, dict]:
    assert cli.run(["size", "--machine", "none", "--json", "--rules-of-thumb", "--set", *SERVER]) == 0
    data = json.loads(capsys.readouterr().out)
    return {advice["id"]: advice for advice in data["advice"]}


def inputs(advice: dict) -> dict[str, float]:
    return {entry["key"]: entry["quantity"]["value"] for entry in advice["inputs"] if entry["quantity"]}


def test_the_io_need_is_cores_times_clock_times_the_rule(answers: dict[str, dict]) -> None:
    advice = answers["io.demand.ghz-rule"]
    known = inputs(advice)

    demand = known["machine.cores"] * known["machine.ghz"] * known["io.ghz-rule.exact"]
    assert advice["quantity"]["value"] == pytest.approx(demand) == pytest.approx(1160e6)
    assert advice["quantity"]["unit"] == "bytes/s"
    assert advice["sources"][0]["title"].startswith("K. Closson")


def test_the_share_is_the_demand_over_the_narrowest_stage(answers: dict[str, dict]) -> None:
    advice = answers["verdict.storage"]
    known = inputs(advice)
    words = {entry["key"]: entry["words"]["value"] for entry in advice["inputs"] if entry["words"]}

    assert words["path.stages"] == "hba:fc16*2,array:fc8*2"
    capacity = min(2 * known["link.fc16.payload"], 2 * known["link.fc8.payload"])
    demand = known["machine.cores"] * known["machine.ghz"] * known["io.ghz-rule.exact"]
    assert advice["quantity"]["value"] == pytest.approx(demand / capacity) == pytest.approx(1160 / 1600)
    assert advice["decision"] == "warn"  # and by rule of thumb


def test_the_cost_is_licenses_times_prices_less_discount_with_rising_support(answers: dict[str, dict]) -> None:
    advice = answers["license.cost.term"]
    known = inputs(advice)

    licenses = math.ceil(known["machine.cores"] * known["oracle.factor.xeon"])
    each = sum(known[f"oracle.{name}.price.processor"] for name in ("ee", "rac", "partitioning"))
    net = licenses * each * (1 - known["license.discount_percent"])
    first_year = answers["license.cost.support-year"]["quantity"]["value"]
    assert first_year == pytest.approx(net * known["oracle.ee.support_percent"])
    years = round(known["license.term_years"] / (365.25 * 86400e9))
    total = net + sum(first_year * (1 + known["license.uplift_percent"]) ** year for year in range(years))
    assert licenses == 16
    assert advice["quantity"]["value"] == pytest.approx(total)
    assert {source["id"] for source in advice["sources"]} >= {
        "oracle-core-factors-2026-01-28",
        "oracle-price-list-2026-08-03",
    }
