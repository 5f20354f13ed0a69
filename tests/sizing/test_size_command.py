"""``sizeup size``: the figures, their working, and clear refusals."""

import json
import re

import pytest

from sizeup import cli
from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS, InputKind


def sized(capsys: pytest.CaptureFixture[str], *settings: str) -> dict:
    assert cli.run(["size", "--machine", "none", "--rules-of-thumb", "--json", "--set", *settings]) == 0
    return json.loads(capsys.readouterr().out)


def figure(data: dict, advice_id: str) -> float:
    return next(advice for advice in data["advice"] if advice["id"] == advice_id)["quantity"]["value"]


@pytest.mark.parametrize(
    "cores", [("machine.sockets=2", "machine.cores_per_socket=4"), ("machine.sockets=2", "machine.cores=8")]
)
def test_two_sockets_of_four_cores_at_266_need_266_mb_s_or_255_as_published(
    capsys: pytest.CaptureFixture[str], cores: tuple[str, ...]
) -> None:
    data = sized(capsys, *cores, "machine.ghz=2.66")

    assert figure(data, "io.demand.ghz-rule") == pytest.approx(266.0e6)
    assert figure(data, "io.demand.ghz-rule-published") == pytest.approx(255.36e6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("machine.core=4", "--set: unknown key 'machine.core' (did you mean machine.cores?"),
        ("license.cores=4", "unknown key 'license.cores' (did you mean license.host_cores?)"),
        ("license.x=4", "unknown key 'license.x'; license has: license.pack, license.product, "),
        ("x.y=4", "unknown key 'x.y'; list all keys with: sizeup size keys"),
        ("machine.cores", "--set: expected KEY=VALUE, found 'machine.cores'"),
        (
            "machine.cores=0",
            "--set: machine.cores: expected a whole number, 1 or more and at most 65,536, such as 4, found '0'",
        ),
        ("machine.cores=2.5", "machine.cores: expected a whole number"),
        ("machine.cores=-4", "machine.cores: expected a whole number"),
        ("machine.ghz=nan", "machine.ghz: expected a number of GHz, above 0 and at most 20, such as 2.5, found 'nan'"),
        ("machine.ghz=1e9", "machine.ghz: expected a number of GHz"),
        ("machine.ghz=1e999", "machine.ghz: expected a number of GHz"),
        ("machine.ghz=2 GB", "machine.ghz: expected a number of GHz"),
        ("license.term_years=0.5", "license.term_years: expected a whole number of y, 1 or more and at most 50"),
        ("machine.ghz=10\u2079", "machine.ghz: expected a number of GHz"),
        ("machine.ghz=3..2..4", "machine.ghz: expected a number of GHz"),
        ("workload.iops=40.000", "found '40.000'; write 40000, or 40"),
        ("workload.iops=40,000", "found '40,000'; write 40000"),
        ("machine.cores=1.024", "found '1.024'; write 1024, or 1.024"),
        ("workload.read_percent=0.6", "found '0.6'; write 60 for a share, or 0.6 %"),
    ],
)
def test_what_cannot_be_is_refused_with_the_key_and_what_was_expected(
    capsys: pytest.CaptureFixture[str], setting: str, message: str
) -> None:
    assert cli.run(["size", "--machine", "none", "--set", setting]) == 2
    assert message in capsys.readouterr().err


def test_a_key_that_is_set_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--machine", "none", "--set", "machine.cores=4", "--set", "machine.cores=8"]) == 2
    assert "--set: machine.cores: expected once, found 2 times" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "text", "base"),
    [
        ("workload.read_percent", "0.6 %", 0.006),
        ("workload.iops", "40.5", 40.5),
        ("workload.io_kib", "8k", 8192),
        ("sga.mb", "1.5G", 1.5 * 2**30),
        ("net.window_bytes", "64K", 65536),
        ("db.gb", "1.5T", 1.5e12),
        ("capacity.mb_s", "3G", 3e9),
        ("capacity.iops", "40k", 40e3),
        ("machine.ghz", "2.66G", 2.66e9),
        ("license.users", "2k", 2000),
    ],
)
def test_a_prefix_alone_is_of_the_family_of_the_keys_unit(key: str, text: str, base: float) -> None:
    value = KEYS[key].parse(text, Origin.USER, "--set")

    assert isinstance(value, Quantity)
    assert value.value == pytest.approx(base)


@pytest.mark.parametrize("setting", ["capacity.latency_ms=8k", "workload.read_percent=1k", "db.gb=1.5P"])
def test_a_prefix_that_makes_no_sense_is_refused(capsys: pytest.CaptureFixture[str], setting: str) -> None:
    assert cli.run(["size", "--machine", "none", "--set", setting]) == 2
    assert "expected a number of" in capsys.readouterr().err


def test_cores_that_contradict_the_sockets_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("machine.sockets=2", "machine.cores_per_socket=4", "machine.cores=4")

    assert cli.run(["size", "--machine", "none", "--set", *settings]) == 2
    assert "machine.sockets x machine.cores_per_socket = 8, found 4" in capsys.readouterr().err


def test_a_range_goes_through_to_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    data = sized(capsys, "machine.cores=8", "machine.ghz=2.4..2.66..3.0")
    quantity = next(a for a in data["advice"] if a["id"] == "io.demand.ghz-rule")["quantity"]

    assert (quantity["low"], quantity["value"], quantity["high"]) == pytest.approx((240e6, 266e6, 300e6))


def advised(data: dict, advice_id: str) -> dict:
    return next(advice for advice in data["advice"] if advice["id"] == advice_id)


def test_an_array_of_disks_is_not_judged_as_flash(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("db.gb=2T", "array.disks=8", "array.raid=10", "array.disk_gb=800")
    flash, disks = sized(capsys, *settings), sized(capsys, *settings, "array.drive=hdd-15k")

    assert advised(flash, "flash.use")["decision"] == "schema"
    assert [advice["id"] for advice in disks["advice"] if advice["id"] == "flash.use"] == []


def test_licenses_of_all_hosts_are_not_set_against_the_guests_cores_without_a_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bare = ("machine.cores=2", "machine.ghz=3.8", "machine.cpu_model=Xeon", "license.pack=oracle")
    guest = sized(capsys, *bare, "license.scope=soft", "license.host_cores=32")

    cover = "the licenses cover 32 cores of the hosts; this guest has 2"
    assert cover in advised(guest, "value.ghz-per-license")["caveats"]
    assert cover not in advised(sized(capsys, *bare), "value.ghz-per-license")["caveats"]


@pytest.mark.parametrize(
    ("settings", "advice_id", "words"),
    [
        (("value.throughput=1e12", "value.system_usd=5"), "value.system-usd-per-unit", "$5e-12 per unit"),
        (("capacity.iops=1e12", "capacity.latency_ms=8000"), "io.queue-depth", "at QD 8,000,000,000,000"),
    ],
)
def test_what_is_very_small_is_not_nothing_and_what_is_very_large_is_in_full(
    capsys: pytest.CaptureFixture[str], settings: tuple[str, ...], advice_id: str, words: str
) -> None:
    assert words in advised(sized(capsys, *settings), advice_id)["verdict"]


@pytest.mark.parametrize("setting", ["workload.growth_percent=1000", "license.list_usd=1e308"])
def test_figures_that_overflow_are_refused_in_words(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures = ("machine.sockets=2", "machine.cores_per_socket=4", "workload.mb_s=1e300", "workload.horizon_years=50")

    assert cli.run(["size", "--machine", "none", "--show", "licenses", "--set", *figures, setting]) == 2
    assert "too large for a number" in capsys.readouterr().err


def test_the_example_of_an_error_is_accepted_by_every_key() -> None:
    for key in KEYS.values():
        with pytest.raises(UsageError) as refused:
            key.parse("" if key.kind is InputKind.WORDS else "?", Origin.USER, "--set")
        example = re.search(r", such as (\S+), found", str(refused.value))
        assert (example is None) is (key.kind in (InputKind.WORDS, InputKind.CHOICE))
        if example is not None:
            key.parse(example[1], Origin.USER, "--set")


def test_pairs_of_drives_are_an_even_number(capsys: pytest.CaptureFixture[str]) -> None:
    drives = ["array.disks=5", "array.raid=10", "workload.iops=9"]
    assert cli.run(["size", "--machine", "none", "--set", *drives]) == 2
    assert "array.disks: expected an even number of drives, which are pairs" in capsys.readouterr().err
