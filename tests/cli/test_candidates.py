"""Servers to choose from, side by side."""

import json
from pathlib import Path

import pytest

import purchase
from report.sessions import records, written
from sizeup import cli
from sizeup.cli.sizing_inputs import sized_subject
from sizeup.sizing.advise import size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.candidates import Candidate, best_first, not_judged

OFFER = """schema = "sizeup.candidate/1"
title = "as offered"
[inputs]
"machine.sockets" = 2
"machine.cores" = 32
"machine.threads_per_core" = 2
"machine.cpu_model" = "Intel(R) Xeon(R) Gold 6338"
"machine.memory_gib" = {gib}
"path.stages" = "hba:fc32*{ports}@{ports}"
"path.policy" = "active-active"
"""
OFFERED = (("large", 768, 2), ("small", 48, 2), ("one-port", 768, 1), ("fc8", 256, 1), ("fc32", 256, 4))
WORKLOAD = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=20", "sga.mb=65536")
ARRAY = ("array.disks=24", "array.raid=10", "array.drive_iops=20000", "array.drive_mb_s=500", "redo.write_kib=8")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with servers and offers, made once: no test changes what is there."""
    path = tmp_path_factory.mktemp("offers")
    purchase.files(path)
    written(path / "run.sizeup.jsonl", *records())
    texts = {name: OFFER.format(gib=gib, ports=ports) for name, gib, ports in OFFERED}
    texts["fc8"] = texts["fc8"].replace("fc32", "fc8")
    texts["fc32"] = texts["fc32"].replace('"machine.memory_gib" = 256\n', "")
    for name, text in texts.items():
        (path / f"{name}.toml").write_text(text, encoding="utf-8")
    for name, states in (("down", ("Linkdown", "Linkdown")), ("half", ("Online", "Linkdown"))):
        purchase.server(path / name, states=states)
    return path


@pytest.fixture(autouse=True)
def folder(offers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(offers)
    return offers


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert cli.run(["size", "compare", *arguments]) == status
    captured = capsys.readouterr()
    return captured.err if status else captured.out


def rows(text: str) -> list[list[str]]:
    table = text.split("  ---", 1)[1].splitlines()[1:]
    lines = [line.replace(" %", "%") for line in table[: table.index("")]]
    return [line.split() for line in lines if not line.startswith("  Licenses and their support")]


def test_candidates_stand_side_by_side_the_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(
        capsys, "small.toml", "server-x", "one-port.toml", "large.toml", "--set", *WORKLOAD, *ARRAY, *YEARS,
        "db.gb=1000", "array.disk_gb=960", "license.product=ee",
    )  # fmt: skip
    found = rows(text)

    assert [row[0] for row in found[:4]] == ["large.toml", "server-x", "one-port.toml", "small.toml"]
    assert found[0][1] == "PASS"
    assert found[2][1:5] == ["WARN", "Storage", "13%", "outage"]
    assert found[3][1:4] == ["FAIL", "Memory", "133%"]
    assert all(row[-1].startswith("$") for row in found)
    assert "Basis    40,000 IOPS" in text
    assert "small.toml: Memory: 64 GiB " in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_the_shares_of_a_candidate_are_those_of_what_limits_it(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows(printed(capsys, "large.toml", "--set", *WORKLOAD, *ARRAY, *YEARS))

    assert row[3:6] == ["13%", "18%", "22%"], "the drives, N+1 and in year 3; memory has 8.3 %"

    (row,) = rows(printed(capsys, "large.toml", "--set", *WORKLOAD, *ARRAY, "db.gb=5000", "array.disk_gb=960"))

    assert row[2:5] == ["Space", "43%", "–"], "space loses nothing, and the 18 % of the drives are no figure of it"


def test_a_cluster_whose_space_limits_has_the_highest_share_after_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """64 GiB on each of two servers with 768 are 8.3 %; of the drives it is 18 %."""
    (tmp_path / "rac.toml").write_text(OFFER.format(gib=768, ports=2) + '"cluster.nodes" = 2\n')
    size = ("db.gb=5000", "array.disk_gb=960")
    (row,) = rows(printed(capsys, str(tmp_path / "rac.toml"), "--set", *WORKLOAD, *ARRAY, *size))

    assert row[2:6] == ["Space", "43%", "18%", "(storage)"]


def test_an_edition_that_is_not_permitted_and_one_that_nobody_chose_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    four = ("machine.socket_capacity=4", "license.product=se2")
    chosen = printed(capsys, "large.toml", "--set", *WORKLOAD, *ARRAY, *four)

    assert rows(chosen)[0][1:3] == ["FAIL", "License"]
    assert "not permitted" in chosen
    assert rows(printed(capsys, "large.toml", "--set", *WORKLOAD, *ARRAY))[0][-1] == "assumed"


def test_a_session_is_a_candidate_and_what_is_unknown_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "run.sizeup.jsonl", "large.toml", "--set", *WORKLOAD, *ARRAY, "capacity.iops=90000")

    assert [row[:3] for row in rows(text)] == [
        ["large.toml", "PASS", "Storage"],
        ["run.sizeup.jsonl", "FAIL", "Memory"],
    ]
    assert "run.sizeup.jsonl: Memory: 64 GiB " in " ".join(text.split())


def test_a_candidate_whose_memory_is_unknown_is_not_certain_and_says_what_to_give(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bare.toml").write_text(
        'schema = "sizeup.candidate/1"\n[inputs]\n"machine.cores" = 8\n', encoding="utf-8"
    )
    text = printed(capsys, "bare.toml", "large.toml", "small.toml", "--set", *WORKLOAD, *ARRAY)

    found = [row for row in rows(text) if row[0].endswith(".toml")]
    assert [row[0] for row in found] == ["large.toml", "bare.toml", "small.toml"]
    assert found[1][1:7] == ["NOT", "CERTAIN", "Storage", "13%", "18%", "paths,"]
    assert "machine.memory_gib=N. Judged: Storage 13 %" in " ".join(text.split())
    assert "bare.toml: Memory: 64 GiB " in " ".join(text.split())


@pytest.mark.parametrize(
    ("names", "settings", "expected"),
    [
        (("fc8.toml", "fc32.toml"), (*WORKLOAD, *ARRAY), ["fc8.toml", "fc32.toml: memory"]),
        (("fc8.toml", "fc32.toml", "down"), (*WORKLOAD, *ARRAY), ["fc8.toml", "down: paths", "fc32.toml: memory"]),
        (("fc8.toml", "fc32.toml"), WORKLOAD, ["fc8.toml: disks", "fc32.toml: disks, memory"]),
        (
            ("fc32.toml", "small.toml", "fc8.toml", "large.toml"),
            ("sga.mb=196608",),  # 192 GiB: 25 % of 768, 75 % of 256, 400 % of 48
            ["large.toml", "fc8.toml", "small.toml", "fc32.toml: memory"],
        ),
        (("down", "half"), (*WORKLOAD, *ARRAY), ["half", "down: paths"]),
        (("down", "half", "server-x"), ("workload.mb_s=1300",), ["server-x: disks", "half: disks", "down: storage"]),
        (("down", "half", "server-x"), ("workload.mb_s=3500",), ["server-x: disks", "half: disks", "down: storage"]),
        (("down", "half", "server-x"), ("capacity.iops=9e4", *WORKLOAD), ["server-x", "half", "down: paths"]),
    ],
)
def test_what_is_not_judged_is_named_and_never_wins(
    names: tuple[str, ...], settings: tuple[str, ...], expected: list[str]
) -> None:
    candidates = [
        Candidate(name, size(sized_subject(name, parse_settings(settings), own_first=True).inputs)) for name in names
    ]

    assert [
        ": ".join(filter(None, (one.name, ", ".join(not_judged(one))))) for one in best_first(candidates)
    ] == expected


def test_a_price_that_is_unknown_has_a_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "no-cores.toml").write_text('schema = "sizeup.candidate/1"\n[inputs]\n"machine.memory_gib" = 512\n')

    text = printed(capsys, "no-cores.toml", "large.toml", "--set", *WORKLOAD, *ARRAY)

    assert "Licenses: unknown. Use --set machine.cores=N" in " ".join(text.split())
    assert " ".join(text.split()).count("Licenses: unknown") == 1


def test_a_fail_by_a_rule_alone_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(
        capsys, "small.toml", "--rules-of-thumb", "--set", *ARRAY, "workload.iops=1000", "redo.mb_s=1", "db.gb=4000"
    )

    assert "FAIL (assumed)" in text
    assert "assumed: a buffer pool of 10 % of the database" in " ".join(text.split())


def test_what_a_candidate_states_by_itself_counts_before_what_is_set_for_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "small.toml", "server-x", "--set", *WORKLOAD, *ARRAY, "machine.memory_gib=80")

    assert [row[:2] for row in rows(text)] == [["server-x", "WARN"], ["small.toml", "FAIL"]]
    assert " 80 GiB " in text


def test_the_document_has_the_whole_answer_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "small.toml", "large.toml", "--json", "--set", *WORKLOAD, *ARRAY))

    assert [one["subject"] for one in found] == ["large.toml", "small.toml"]
    assert all(one["schema"] == "sizeup.size/1" for one in found)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("large.toml", "large.toml"), "expected every server once, found large.toml more than once"),
        (("nothing",), "a published case, this or none, found nothing at nothing; list cases with: sizeup size cases"),
        (
            ("large.toml", "--show", "working"),
            "unrecognized arguments: --show working; try: sizeup size compare --help",
        ),
        (("workload.toml",), "schema is 'sizeup.workload/1'; this is a workload; give it to --workload"),
        (("large.toml", "--workload", "large.toml"), "this is a server; give it to --machine"),
        (("none.toml",), "none.toml: expected sizeup.candidate/1: it has no schema; begin the file with schema = "),
        (("cut.toml",), "cut.toml: expected sizeup.candidate/1: cut or incomplete TOML at line 3; write it again"),
        (
            ("large.toml", "--editions", "mysql"),
            "--editions: expected mysql.community, mysql.enterprise, mysql.standard, found 'mysql'",
        ),
        (("load.toml",), "found 'workload.iops'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    (folder / "workload.toml").write_text('schema = "sizeup.workload/1"\n[inputs]\n"redo.mb_s" = 1\n', encoding="utf-8")
    (folder / "load.toml").write_text(
        'schema = "sizeup.candidate/1"\n[inputs]\n"workload.iops" = 1\n', encoding="utf-8"
    )

    (folder / "none.toml").write_text('[inputs]\n"machine.cores" = 1\n', encoding="utf-8")
    (folder / "cut.toml").write_text(
        'schema = "sizeup.candidate/1"\n[inputs]\n"machine.cpu_model" = "Xe', encoding="utf-8"
    )

    assert sentence in printed(capsys, *arguments, status=2)


def test_an_outage_of_any_part_stands_in_the_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "one-port.toml", "--set", *WORKLOAD, *ARRAY, "db.gb=20000", "array.disk_gb=960")

    assert [row[2:6] for row in rows(text)] == [["Space", "174%", "outage", "(storage)"]]


def test_one_sentence_stands_for_all_candidates_that_it_is_true_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "twin.toml").write_text((folder / "small.toml").read_text(encoding="utf-8"), encoding="utf-8")
    text = printed(capsys, "small.toml", "twin.toml", "large.toml", "--set", *WORKLOAD, *ARRAY)

    assert "small.toml, twin.toml: Memory: 64 GiB" in text
    assert "Licenses and their support over 3 years, by list prices" in text


def test_the_folder_that_all_share_is_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, f"{folder}/large.toml", f"{folder}/small.toml", "--set", *WORKLOAD, *ARRAY)

    assert [row[0] for row in rows(text)] == ["large.toml", "small.toml"]


PRICED = """schema = "sizeup.candidate/1"
[inputs]
"machine.sockets" = {sockets}
"machine.cores_per_socket" = 2
"machine.cpu_model" = "Intel(R) Xeon(R) CPU {model}"
"cluster.nodes" = {nodes}
"value.system_usd" = {usd}
"value.throughput" = {rate}
"value.unit" = "OPM"
"""


def test_a_cluster_and_one_large_server_stand_in_one_table_with_price_and_what_a_failure_leaves(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The published pair of the DVD Store: $5.757 and $12.037 per order and minute without licenses."""
    smp = PRICED.format(sockets=4, model="7140M @ 3.40GHz", nodes=1, usd=185747, rate=32264)
    cluster = PRICED.format(sockets=2, model="5160 @ 3.00GHz", nodes=2, usd=266852, rate=22169)
    (folder / "smp.toml").write_text(smp, encoding="utf-8")
    survives = '"cluster.survivors" = 1\n"cluster.degraded_percent" = 100\n'
    (folder / "rac.toml").write_text(cluster + survives, encoding="utf-8")

    bare = printed(capsys, "smp.toml", "rac.toml")
    licensed = printed(capsys, "smp.toml", "rac.toml", "--set", "license.product=ee", "license.options=none")

    # EE: 8 cores x 0.5 = 4 licenses x $47,500 = $190,000, and 22 % a year: x 1.66 = $315,400 over 3 years.
    # (185,747 + 315,400) / 32,264 = 15.533; (266,852 + 315,400) / 22,169 = 26.264; 22,169 / 2 = 11,084.5.
    cells = {
        line.split()[0]: line.split()[1:]
        for line in licensed.replace(" %", "%").splitlines()
        if "OPM" not in line and "$" in line
    }
    assert cells["smp.toml"] == ["$185,747", "$501,147", "32,264", "$15.533", "nothing"]
    assert cells["rac.toml"] == ["$266,852", "$582,252", "22,169", "$26.264", "11,080", "(50%)"]
    assert "Per OPM" in licensed
    assert "32,264" in bare


def test_the_licenses_of_editions_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "large.toml", "fc8.toml", "--editions", "ee,oracle.se2,postgresql", "--set", *WORKLOAD)

    heading = next(line for line in text.splitlines() if "oracle.se2" in line)
    row = next(line.split() for line in text.splitlines() if line.startswith("  fc8.toml") and "$0" in line)
    assert heading.split() == ["Candidate", "ee", "oracle.se2", "postgresql"]
    # 32 cores x 0.5 = 16 x $47,500 x 1.66 = $1,261,600
    assert row[1] == "$1.26M"
    assert row[-1] == "$0"
    assert "over 3 years, list prices in USD" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_the_cost_of_an_edition_lacks_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    scope = ("license.pack=sql-server", "license.scope=vm", "machine.vcpus=32")
    for more, said in (((), "Unknown (–): use --set license.host_cores=N"), (("license.host_cores=96",), "$3.78M")):
        text = printed(capsys, "large.toml", "--editions", "ee", "--set", *WORKLOAD, *scope, *more)
        assert said in " ".join(text.split())


def test_a_discount_is_named_beside_the_cost_of_editions(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "large.toml", "--editions", "ee", "--set", *WORKLOAD, "license.discount_percent=40")

    assert "list prices less 40 % in USD" in text


@pytest.mark.parametrize(
    ("own", "cost", "at"),
    [
        ("license.support_percent=20", "$110,460", "list prices in USD"),
        ("license.list_usd=1000", "$110,460", "your prices of ee, else list prices in USD"),
    ],
)
def test_prices_of_the_chosen_edition_are_of_no_other(
    own: str, cost: str, at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard for 32 cores is 16 x $3,945, with its own 25 % a year of support over three years."""
    contract = ("license.product=ee", own)
    text = printed(capsys, "large.toml", "--editions", "ee,sql-server.standard", "--set", *WORKLOAD, *contract)

    assert cost in text
    assert f"over 3 years, {at}" in " ".join(text.split())


def test_an_edition_that_is_unknown_or_not_the_only_one_of_its_name_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "expected db2.advanced, " in printed(capsys, "large.toml", "--editions", "enterprise", status=2)
    assert "--editions" in printed(capsys, "large.toml", "--editions", "ee", "--json", status=2)


def test_what_warns_ranks_above_what_is_not_certain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """64 GiB of 85 GiB is 75 % and warns; without its memory known the other one may fail."""
    for name, memory in (("warns", '"machine.memory_gib" = 85\n'), ("uncertain", "")):
        text = OFFER.format(gib=0, ports=2).replace('"machine.memory_gib" = 0\n', memory)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    found = rows(printed(capsys, "uncertain.toml", "warns.toml", "--set", *WORKLOAD, *ARRAY))

    assert [row[:2] for row in found[:2]] == [["warns.toml", "WARN"], ["uncertain.toml", "NOT"]]


@pytest.mark.ci
def test_what_else_warns_decides_between_two_that_are_not_certain(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which LUNs are for the database is open in both; one of them also loses its only path with a port."""
    purchase.server(folder / "four-ports", states=("Online",) * 4, luns=6, lun_gb=1500)
    purchase.server(folder / "a-port", states=("Online",), luns=6, lun_gb=1500)
    found = rows(printed(capsys, "a-port", "four-ports", "--set", *WORKLOAD, "db.gb=4000"))

    assert [row[0] for row in found if row[0] in ("a-port", "four-ports")] == ["four-ports", "a-port"]


def test_what_leaves_a_candidate_open_is_what_limits_it(capsys: pytest.CaptureFixture[str]) -> None:
    load = ("workload.cpu_cores=20", "sga.mb=1024")  # of an unknown processor
    assert cli.run(["size", "compare", "large.toml", "fc8.toml", "--set", *load]) == 0
    text = " ".join(capsys.readouterr().out.split())

    assert "large.toml NOT CERTAIN CPU" in text
    assert "because the processor of the present server is unknown" in text


def test_what_would_judge_the_processors_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = '"machine.cores" = 16\n"machine.memory_gib" = 64\n'
    Path("offer.toml").write_text(f'schema = "sizeup.candidate/1"\n[inputs]\n{inputs}', encoding="utf-8")
    assert cli.run(["size", "compare", "offer.toml", "--set", "workload.cpu_cores=4", "sga.mb=2000"]) == 0

    assert "is unknown). Use --set workload.cpu_model=TEXT to decide" in " ".join(capsys.readouterr().out.split())


def test_a_server_that_contradicts_itself_is_left_out_and_the_others_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / "odd.toml"
    odd.write_text('schema = "sizeup.candidate/1"\n[inputs]\n"array.disks" = 3\n"array.raid" = "10"\n')

    assert cli.run(["size", "compare", str(odd), "large.toml", "--set", *WORKLOAD]) == 2
    out, error = capsys.readouterr()
    assert "large.toml" in out
    assert "odd.toml" not in out
    assert error.startswith(f"sizeup: not compared: {odd}: array.disks: expected an even number of drives")
    assert cli.run(["size", "compare", str(odd), "--set", *WORKLOAD]) == 2
    assert capsys.readouterr().out == ""


def test_options_are_those_of_each_candidate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one's stood for all."""
    text = OFFER.format(gib=768, ports=2) + '"license.product" = "ee"\n"license.options" = "{}"\n'
    for name in ("partitioning", "diagnostics"):
        (tmp_path / f"{name}.toml").write_text(text.format(name), encoding="utf-8")
    files = [str(tmp_path / f"{name}.toml") for name in ("partitioning", "diagnostics")]

    found = " ".join(printed(capsys, *files, "--editions", "ee", "--set", *WORKLOAD).split())
    for title in ("with Partitioning (partitioning.toml)", "with Diagnostics Pack (diagnostics.toml)"):
        assert found.count(f"Oracle Database Enterprise Edition {title}") == 2
    same = printed(capsys, "large.toml", "small.toml", "--set", *WORKLOAD, "license.product=ee")
    assert "Enterprise Edition" not in same


def test_options_that_an_edition_does_not_have_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rac.toml").write_text(OFFER.format(gib=768, ports=2) + '"license.options" = "rac"\n')
    files = str(tmp_path / "rac.toml"), "large.toml"
    text = " ".join(printed(capsys, *files, "--editions", "ee,se2", "--set", *WORKLOAD).split())

    assert "Oracle Database Standard Edition 2 without rac (rac.toml)" in text
    assert "Oracle Database Standard Edition 2 (large.toml)" in text


COSTED = OFFER.format(gib=768, ports=2) + '"license.product" = "ee"\n"value.throughput" = 12000\n'


@pytest.mark.parametrize(
    ("systems", "order"),
    [
        ({"a": 90_000, "b": 38_000}, ["b", "a"]),
        ({"a": None, "b": 90_000, "c": 38_000}, ["c", "b", "a"]),
        ({"a": None, "b": 1_700_000, "free": 900_000}, ["free", "b", "a"]),
        ({"a": 38_000, "free": 1_700_000}, ["a", "free"]),
    ],
)
def test_of_equal_servers_the_cheapest_with_its_licenses_is_the_best(
    systems: dict[str, int | None], order: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """32 cores of Oracle EE are $1,261,600: less with $38,000 than PostgreSQL with $1,700,000."""
    for name, usd in systems.items():
        text = COSTED if usd is None else f'{COSTED}"value.system_usd" = {usd}\n'
        text = text.replace('product" = "ee"', 'pack" = "postgresql"') if name == "free" else text
        (tmp_path / f"{name}.toml").write_text(text)
    files = [str(tmp_path / f"{name}.toml") for name in systems]

    found = rows(printed(capsys, *files, "--set", *WORKLOAD, *ARRAY))
    assert [row[0].removesuffix(".toml") for row in found if row[0].endswith(".toml")][: len(order)] == order


def test_a_price_by_unit_has_the_licenses_of_all_or_of_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The licenses of a server without known cores are unknown; $87,000 / 12,000 = $7.250."""
    priced = COSTED + '"value.system_usd" = 87000\n'
    (tmp_path / "known.toml").write_text(priced)
    (tmp_path / "open.toml").write_text(priced.replace('"machine.cores" = 32\n"machine.threads_per_core" = 2\n', ""))
    files = [str(tmp_path / f"{name}.toml") for name in ("known", "open")]

    cells = [line.split() for line in printed(capsys, *files, "--set", *WORKLOAD).splitlines() if "$87,000" in line]
    assert [cell[-2] for cell in cells] == ["$112.383", "–"]
    assert "$7.250" in printed(capsys, files[1], "--set", *WORKLOAD)


def test_prices_and_units_of_work_are_those_of_each_offer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One has a discount of 50 %, the other none, and they do different work."""
    for name, more in (
        ("a", '"value.unit" = "orders"\n"license.discount_percent" = 50\n'),
        ("b", '"value.unit" = "tpmC"\n'),
    ):
        of_both = '"machine.sockets" = 2\n"machine.cores" = 16\n"license.product" = "ee"\n"value.throughput" = 1000\n'
        head = 'schema = "sizeup.candidate/1"\n[inputs]\n"value.system_usd" = 9000\n"machine.cpu_model" = "EPYC 9654"\n'
        (tmp_path / f"{name}.toml").write_text(head + of_both + more)

    paths = [str(tmp_path / f"{name}.toml") for name in "ab"]
    assert cli.run(["size", "compare", *paths, "--set", "workload.iops=9"]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert "list prices less 50 % (a.toml), list prices (b.toml)" in said
    assert "1,000 orders" in said
    assert "1,000 tpmC" in said


def test_of_two_offers_that_differ_in_one_part_the_better_one_is_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CPU of neither is judged; one uses 80 % of its memory, the other 12 %."""
    for name, memory in (("a-worse", 80), ("b-better", 512)):
        head = 'schema = "sizeup.candidate/1"\n[inputs]\n"value.system_usd" = 9000\n"machine.cores" = 16\n'
        (tmp_path / f"{name}.toml").write_text(f'{head}"machine.memory_gib" = {memory}\n')

    paths = [str(tmp_path / f"{name}.toml") for name in ("a-worse", "b-better")]
    assert cli.run(["size", "compare", *paths, "--set", "workload.cpu_cores=9", "sga.mb=60000"]) == 0

    said = capsys.readouterr().out
    assert said.index("b-better") < said.index("a-worse")
