"""Which processors a product runs on, and what of them it counts."""

import pytest

from sizeup.model.advice import Advice
from sizeup.sizing.licensing.table import rows
from sizing.license_cases import RULES, found, sized, units

LPAR = ("machine.guest=yes", "machine.vcpus=64", "machine.threads_per_core=4", "machine.cpu_model=POWER7")


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (("license.pack=db2",), 16),
        (("license.pack=db2", "cluster.nodes=2"), 32),
        (("license.pack=db2", "cluster.nodes=2", "license.aggregate=pool"), 32),
        (("license.pack=db2", "license.product=v11_1"), 1120),
        (("license.pack=db2", "machine.cpu_model=Xeon Gold 6338"), 64),
    ],
)
def test_db2_counts_the_virtual_processors_of_a_power_partition_and_not_their_threads(
    settings: tuple[str, ...], counted: float
) -> None:
    assert units(*LPAR, *settings) == counted


def test_the_limit_of_an_edition_counts_virtual_processors_too() -> None:
    assert (
        found(
            sized(*LPAR, "license.pack=db2", "license.product=standard"), "license.limit.db2.standard.virtual_cores"
        ).decision
        == "fits"
    )


def test_a_power_partition_without_its_threads_is_asked_for_them() -> None:
    sizing = sized(
        "machine.guest=yes",
        "machine.vcpus=64",
        "machine.cpu_model=POWER7",
        "license.pack=db2",
        "license.product=standard",
    )

    assert sizing.find("license.limit.db2.standard.virtual_cores") is None
    assert "machine.threads_per_core" in {question.key for question in sizing.questions}


def allowed(*settings: str) -> Advice | None:
    return sized("machine.cores=16", "machine.sockets=2", *settings).find("license.allowed")


@pytest.mark.parametrize(
    ("pack", "runs", "does_not"),
    [
        ("sql-server", ("AMD EPYC 9654", "Intel(R) Xeon(R) Gold 6338"), ("POWER9", "IBM/S390", "Neoverse-V2")),
        ("vmware", ("AMD EPYC 9654",), ("POWER7 (architected), altivec supported", "IBM z16", "SPARC-T5")),
        ("windows", ("AMD EPYC 9654",), ("POWER9", "IBM/S390")),
        ("sap-hana", ("AMD EPYC 9654", "POWER9"), ("IBM/S390", "Neoverse-V2")),
        ("db2", ("AMD EPYC 9654", "POWER9", "IBM/S390"), ("Kunpeng-920",)),
    ],
)
def test_a_product_is_judged_where_it_runs_and_refused_where_it_does_not(
    pack: str, runs: tuple[str, ...], does_not: tuple[str, ...]
) -> None:
    for model in (*runs, "Waltrapp"):
        assert allowed(f"license.pack={pack}", f"machine.cpu_model={model}") is None, model
    for model in does_not:
        sizing = sized("machine.cores=16", "machine.sockets=2", f"license.pack={pack}", f"machine.cpu_model={model}")
        said = found(sizing, "license.allowed")
        assert said.decision == "forbidden"
        assert " does not run on this server: it" in said.verdict
        assert said.sources
        assert [one.id for one in sizing.advice if one.id.startswith(("license.units", "license.cost"))] == []
        assert next(card.status for card in sizing.cards if card.resource == "license") == "fail"


def test_the_table_of_all_vendors_prices_nothing_where_it_does_not_run() -> None:
    sizing = sized("machine.cores=16", "machine.sockets=2", "machine.memory_gib=64", "machine.cpu_model=POWER9")
    table = {row.pack: row for row in rows(sizing.inputs, RULES)}

    assert table["sql-server"].forbidden.endswith("it runs on x86-64 processors only")
    assert (table["sql-server"].units, table["sql-server"].list_price) == (None, None)
    assert table["oracle"].units is not None


@pytest.mark.parametrize("model", ["IBM/S390", "POWER9", "SPARC-T5"])
def test_a_cloud_has_no_instance_of_a_processor_that_it_does_not_offer(model: str) -> None:
    cloud = ("license.scope=cloud", "machine.vcpus=32", "machine.threads_per_core=2")
    said = allowed(*cloud, f"machine.cpu_model={model}")

    assert said.verdict == (
        "Oracle Database Enterprise Edition is not permitted on this instance: no authorized cloud offers instances "
        "with this processor"
    )
    assert units(*cloud, "machine.cpu_model=AMD EPYC 9654") == 16


@pytest.mark.parametrize(
    ("settings", "counted"), [(("license.product=v11_1",), 12 * 70), (("license.product=standard",), 12)]
)
def test_no_partition_counts_more_virtual_processors_than_its_server_has(
    settings: tuple[str, ...], counted: float
) -> None:
    uncapped = ("license.pack=db2", "license.partition=uncapped", "machine.server_cores=12")

    assert found(sized(*LPAR, *uncapped, *settings), "license.units").quantity.value == counted
