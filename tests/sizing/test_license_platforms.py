"""Which processors a product runs on, and what of them it counts."""

import pytest

from sizing.license_cases import found, sized, units

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
    assert found(sized(*LPAR, "license.pack=db2"), "license.limit.db2.standard.virtual_cores").decision == "fits"


def test_a_power_partition_without_its_threads_is_asked_for_them() -> None:
    sizing = sized("machine.guest=yes", "machine.vcpus=64", "machine.cpu_model=POWER7", "license.pack=db2")

    assert sizing.find("license.limit.db2.standard.virtual_cores") is None
    assert "machine.threads_per_core" in {question.key for question in sizing.questions}
