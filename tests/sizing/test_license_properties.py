"""What must hold of license costs on every machine: more hardware of one kind never costs less."""

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from sizeup.quantity import Quantity
from sizeup.sizing import rules
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.table import Row
from sizing.license_cases import rows_of
from tiers import in_gate

RULES = rules.shipped()
MODELS = [
    "Intel(R) Xeon(R) Gold 6338",
    "Intel(R) Xeon(R) CPU X5355 @ 2.66GHz",
    "AMD EPYC 9654",
    "AMD Opteron(tm) Processor 248",
    "POWER11",
    "SPARC T5",
    "IBM/S390",
    "Neoverse-N1",
    "Ampere Altra Q80-30",
    "Waltrapp One",
]
DEFAULTS = {"cluster.nodes": "1", "license.aggregate": "server", "license.users": "75"}
COUNTED = {
    "bare": "machine.cores",
    "vm": "machine.vcpus",
    "cloud": "machine.vcpus",
    "hard": "license.pinned_cores",
    "soft": "license.host_cores",
}
machines = st.fixed_dictionaries(
    {
        "machine.sockets": st.integers(1, 16),
        "machine.cores": st.integers(1, 512),
        "machine.vcpus": st.integers(1, 512),
        "machine.threads_per_core": st.sampled_from([1, 2, 4, 8]),
        "machine.memory_gib": st.integers(1, 4096),
        "machine.cpu_model": st.sampled_from(MODELS),
        "license.pinned_cores": st.integers(1, 512),
        "license.host_cores": st.integers(1, 512),
        "license.host_sockets": st.integers(1, 16),
        "cluster.nodes": st.integers(1, 4),
        "license.users": st.integers(1, 5000),
        "license.aggregate": st.sampled_from(["server", "pool"]),
    }
)


def table(machine: dict[str, int | str], scope: str) -> dict[tuple[str, str], Row]:
    """Every product of every vendor, counted in one scope."""
    found = {}
    for pack in RULES.license_packs():
        settings = {**DEFAULTS, **machine, "license.pack": pack.pack, "license.scope": scope}
        inputs = parse_settings([f"{key}={value}" for key, value in settings.items()])
        found |= {(row.pack, row.product): row for row in rows_of(pack, inputs)}
    return found


def ends(quantity: Quantity | None) -> tuple[float, float, float] | None:
    if quantity is None:
        return None
    low, high = (quantity.value if end is None else end for end in (quantity.low, quantity.high))
    return low, quantity.value, high


def assert_never_less(smaller: dict[tuple[str, str], Row], larger: dict[tuple[str, str], Row]) -> None:
    for name, row in smaller.items():
        more = larger[name]
        assert not row.forbidden or more.forbidden, name
        for fewer, further in ((row.units, more.units), (row.list_price, more.list_price)):
            below, above = ends(fewer), ends(further)
            if below is not None and above is not None:
                assert all(low <= high for low, high in zip(below, above, strict=True)), (name, below, above)


@pytest.mark.ci
@seed(16)
@settings(max_examples=40, deadline=None)
@given(machine=machines, more=st.integers(1, 512), scope=st.sampled_from(sorted(COUNTED)))
def test_more_cores_never_cost_less_within_an_edition(machine: dict[str, int | str], more: int, scope: str) -> None:
    key = COUNTED[scope]
    if scope == "hard":  # a partition has no more cores than its server
        machine = {**machine, "machine.cores": 1024}
    smaller = table(machine, scope)

    assert any(row.list_price is not None for row in smaller.values())
    assert_never_less(smaller, table({**machine, key: int(machine[key]) + more}, scope))


@pytest.mark.ci
@pytest.mark.parametrize("scope", ["bare", "soft"])
def test_not_one_further_core_costs_less_within_an_edition(scope: str) -> None:
    def counted(cores: int) -> dict[tuple[str, str], Row]:
        machine: dict[str, int | str] = {
            "machine.sockets": 2, "machine.cores": 64, "machine.cpu_model": MODELS[0], "license.host_sockets": 2,
        }  # fmt: skip
        return table({**machine, COUNTED[scope]: cores}, scope)

    before = counted(2)
    assert before["oracle", "ee"].list_price is not None
    for cores in range(3, 66):
        after = counted(cores)
        assert_never_less(before, after)
        before = after


@pytest.mark.ci
@seed(16)
@settings(max_examples=20, deadline=None)
@given(machine=machines, key=st.sampled_from(["cluster.nodes", "machine.sockets", "license.users"]))
def test_more_servers_sockets_or_users_never_cost_less(machine: dict[str, int | str], key: str) -> None:
    assert_never_less(table(machine, "bare"), table({**machine, key: int(machine[key]) + 1}, "bare"))


@pytest.mark.parametrize(
    "cores", in_gate("^(2|4|16|24|25|32|64)$", map(str, (1, 2, 3, 4, 8, 16, 17, 24, 25, 32, 33, 64)))
)
def test_every_server_of_a_cluster_is_licensed(cores: str) -> None:
    machine: dict[str, int | str] = {"machine.cores": cores, "machine.sockets": 1, "machine.cpu_model": MODELS[0]}
    one, three = (table({**machine, "cluster.nodes": nodes}, "bare") for nodes in (1, 3))

    for name in (("oracle", "ee"), ("oracle", "se2"), ("sql-server", "enterprise"), ("windows", "standard")):
        units = [found[name].units for found in (one, three)]
        assert units[1].value == 3 * units[0].value
