"""What a choice of edition costs beside its price: limits, features, and prices that are no more than estimates."""

from datetime import date

import pytest

from sizeup.errors import UsageError
from sizeup.sizing.advise import size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.table import rows
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.license_answer import license_basis
from sizeup.views.result.licenses import license_table
from sizing.license_cases import RULES, XEON, found, sized

SQL = (
    "license.pack=sql-server",
    "license.product=enterprise",
    "machine.guest=no",
    "machine.sockets=4",
    "machine.cores=32",
    XEON,
)
TODAY = date(2026, 11, 22)
MEMORY = "at most 256 GiB; the memory of the server is unknown (--set machine.memory_gib=N)"


def test_a_limit_on_memory_is_named_where_the_memory_of_the_server_is_unknown() -> None:
    verdict = found(sized(*SQL), "license.edition").verdict

    assert f"Buffer pool that Standard 2025 uses: {MEMORY}" in verdict
    assert "at most 128 GiB" in found(sized(*SQL, "license.version=2022"), "license.edition").verdict
    assert MEMORY not in found(sized(*SQL, "machine.memory_gib=64"), "license.edition").verdict


def test_the_limit_of_the_chosen_edition_is_a_note_where_the_memory_is_unknown() -> None:
    db2 = ("license.pack=db2", "license.product=standard", "machine.guest=no", "machine.cores=16", XEON)
    text = " ".join(" ".join(answer_lines(sized(*db2))).split())

    assert "! Memory that an instance of Standard Edition uses: at most 128 GiB; the memory of the server is" in text


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        (SQL, "SQL Server Enterprise may be higher for version 2025: an adviser estimates $16,500 in place of $15,123"),
        (
            ("license.pack=mysql", "license.product=standard", "machine.sockets=2"),
            "MySQL Standard Edition was not read at the vendor: advisers give $2,000 to $4,000 a server and year",
        ),
    ],
)
def test_a_price_that_is_an_estimate_says_so_on_the_first_screen(settings: tuple[str, ...], note: str) -> None:
    sizing = size(parse_settings(settings), RULES, TODAY)

    assert f"the list price of {note}" in sizing.warnings
    assert note in " ".join(" ".join(answer_lines(sizing)).split()).replace("! ", "")
    own = size(parse_settings([*settings, "license.list_usd=100"]), RULES, TODAY)
    assert not any("list price of" in warning for warning in own.warnings)


@pytest.mark.parametrize(
    "settings",
    [
        ("license.pack=postgresql",),
        ("license.pack=mysql",),
        ("license.pack=sql-server", "license.product=express", "machine.sockets=1", "machine.cores=8"),
    ],
)
def test_what_costs_nothing_needs_no_licenses(settings: tuple[str, ...]) -> None:
    sizing = sized("machine.guest=no", XEON, *settings)
    card = next(card for card in sizing.cards if card.resource == "license")

    assert card.statement.endswith(": no licenses needed")
    assert card.demand.endswith(", no licenses needed")
    chosen = [row for row in rows(sizing.inputs, RULES) if row.free]
    assert {row.product for row in chosen} == {"community", "express"}
    free = [row for row in license_table(sizing, RULES).rows if row[1] in {"PostgreSQL", "MySQL Community"}]
    assert [row[2] for row in free] == ["none needed"] * 2


def test_where_no_edition_can_be_judged_the_missing_key_is_named() -> None:
    guest = ("license.product=se2", "machine.guest=yes", "license.host_sockets=4", "machine.cpu_model=z196")

    assert found(sized(*guest), "license.edition").verdict == (
        "Oracle Database Standard Edition 2 is not permitted, and which other edition is, is unknown. Not judged: "
        "Oracle EE (needs --set license.partition=dedicated|capped|uncapped)"
    )


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        (("license.pack=mssql",), "sql-server"),
        (("license.pack=postgres",), "postgresql"),
        (("license.product=standard",), "se2"),
        (("license.product=enterprise",), "ee"),
        (("license.pack=sql-server", "license.product=standart"), "standard"),
    ],
)
def test_another_name_of_a_product_proposes_that_product(settings: tuple[str, ...], meant: str) -> None:
    with pytest.raises(UsageError, match=rf"\(did you mean {meant}\?\)"):
        sized(*settings)


def test_only_oracle_calls_its_clouds_authorized() -> None:
    server = ("machine.guest=no", "machine.sockets=4", "machine.cores=32", "machine.threads_per_core=2", XEON)

    assert found(sized(*server, *SQL[:2]), "license.cloud").verdict.startswith("Cloud: 32 packs")
    assert found(sized(*server), "license.cloud").verdict.startswith("Authorized cloud: 32 licenses")


def test_threads_of_a_power_partition_are_counted_as_its_virtual_processors() -> None:
    lpar = ("license.pack=db2", "license.scope=vm", "machine.guest=yes", "machine.vcpus=64")
    power = sized(*lpar, "machine.threads_per_core=4", "machine.cpu_model=POWER7")

    assert license_basis(power) == "16 virtual processors (64 threads), POWER7"
    assert license_basis(sized(*lpar, XEON)).startswith("64 vCPUs")


def test_the_table_of_every_vendor_marks_what_is_assumed_refused_or_unknown() -> None:
    guest = ("machine.guest=yes", "license.host_cores=32", "license.host_sockets=2", "machine.cpu_model=AMD EPYC 9654")
    table = license_table(sized(*guest), RULES)
    status = {row[1]: row[-1] for row in table.rows}

    assert table.columns[-1].title == "Status"
    assert status["Oracle Database Enterprise Edition"] == "ASSUMED"
    assert status["PostgreSQL"] == "PASS"
    assert status["Db2 11.5 Standard Edition"] == "UNKNOWN"
    assert "What an assumed count rests on" in table.note
    four = license_table(sized("machine.guest=no", "machine.sockets=4", "machine.cores=32", XEON), RULES)
    refused = {row[1]: row[-1] for row in four.rows}
    assert (refused["Oracle Database Standard Edition 2"], refused["SQL Server Enterprise"]) == ("FAIL", "PASS")
    assert refused["SQL Server Express"] == "ASSUMED"


def test_the_table_says_that_an_order_holds_more_than_the_machine_has_and_names_threads_of_bare_metal() -> None:
    server = ("machine.guest=no", "machine.sockets=2", "machine.cores=32", "machine.vcpus=64", XEON)
    note = license_table(sized(*server), RULES).note

    assert ": minimum order: 72 cores." in note
    assert "32 cores, 64 threads" in note
