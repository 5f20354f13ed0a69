"""What the chosen edition bounds of a server counts as its capacity, whatever else is unknown."""

import pytest

from sizing.sized import card

STANDARD = ("license.pack=sql-server", "license.product=standard", "machine.sockets=4", "machine.cores=32")
SE2 = ("license.product=se2", "machine.guest=no", "machine.sockets=2", "machine.socket_capacity=2")


@pytest.mark.parametrize(
    ("settings", "status", "share"),
    [
        (("sga.mb=300000",), "fail", 300000 / 262144),
        (("sga.mb=131072",), "pass", 0.25),
        (("sga.mb=131072", "license.version=2022"), "pass", 0.25),  # all of the buffer pool that it uses
        (("sga.mb=131073", "license.version=2022"), "fail", 131073 / 131072),
        (("sga.mb=131072", "memory.sessions=1000", "memory.session_mib=300"), "warn", (131072 + 300000) / 524288),
        (("sga.mb=300000", "license.product=enterprise"), "pass", 300000 / 524288),
    ],
)
def test_the_shared_memory_is_held_against_what_the_edition_uses(
    settings: tuple[str, ...], status: str, share: float
) -> None:
    found = card("memory", *STANDARD, "machine.memory_gib=512", *settings)

    assert found.status == status
    assert found.share == pytest.approx(share)
    assert status != "fail" or not found.needs  # of an edition's limit no larger server is any help


def test_an_edition_that_nobody_chose_bounds_nothing() -> None:
    found = card("memory", "license.pack=sql-server", "machine.memory_gib=512", "sga.mb=300000", "machine.cores=32")

    assert found.status == "pass"


@pytest.mark.parametrize(
    ("threads", "share"),
    [((), 20.8 / 16), (("machine.threads_per_core=1",), 20.8 / 16), (("machine.threads_per_core=2",), 20.8 / 16)],
)
def test_sixteen_threads_are_sixteen_cores_at_most_also_where_the_threads_of_a_core_are_unknown(
    threads: tuple[str, ...], share: float
) -> None:
    found = card("cpu", *SE2, "machine.cores=32", "workload.cpu_percent=65", *threads)

    assert found.status == "fail"
    assert found.share == pytest.approx(share)


def test_sixteen_cores_with_unknown_threads_are_not_bounded() -> None:
    assert card("cpu", *SE2, "machine.cores=16", "workload.cpu_percent=65").share == pytest.approx(0.65)


@pytest.mark.parametrize(("version", "cores"), [("2022", 24), ("2025", 32)])
def test_the_cores_that_count_are_those_of_the_chosen_version(version: str, cores: int) -> None:
    settings = ("license.pack=sql-server", "license.product=standard", "machine.sockets=4", "machine.cores=64")
    found = card("cpu", *settings, f"license.version={version}", "workload.cpu_percent=25", "machine.guest=no")

    assert found.share == pytest.approx(16 / cores)
