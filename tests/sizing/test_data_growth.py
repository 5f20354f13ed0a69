"""Data that grows by a rate of its own, apart from the load."""

import pytest

from sizeup.model.advice import Card
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.verdict import ShareLimits, Shares, ShareStatus
from sizeup.sizing.workload import Growth, growth_of_sum
from sizeup.views.cards.cards import card_views
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.basis import basis_text
from sizeup.views.result.verdict import verdict_text

LOAD = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=20", "redo.write_kib=8")
PATHS = ("path.stages=hba:fc16*2@2", "path.policy=active-active")
ARRAY = ("array.disks=24", "array.raid=10", "array.drive_iops=20000", "array.drive_mb_s=500", "array.disk_gb=960")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")
SERVER = ("machine.memory_gib=1024",)


def sized(*settings: str) -> Sizing:
    return size(parse_settings([*LOAD, *PATHS, *ARRAY, *YEARS, *SERVER, *settings]))


def card(sizing: Sizing, resource: str) -> Card:
    return next(card for card in sizing.cards if card.resource == resource)


@pytest.mark.parametrize(
    ("more", "rate"), [((), 0.2), (("db.growth_percent=50",), 0.5), (("db.growth_percent=0",), 0.0)]
)
def test_space_and_a_buffer_pool_grow_like_the_data_and_the_load_by_itself(more: tuple[str, ...], rate: float) -> None:
    sizing = sized("db.gb=4000", "workload.rules_of_thumb=yes", *more)
    space, memory, storage = (card(sizing, name) for name in ("space", "memory", "storage"))

    assert space.last_year == pytest.approx(4000 / 11520 * (1 + rate) ** 3)
    assert memory.last_year == pytest.approx(400e9 / 2**40 * (1 + rate) ** 3)
    assert storage.share is not None
    assert storage.last_year == pytest.approx(storage.share * 1.728)


def test_the_data_grows_where_the_load_does_not() -> None:
    sizing = sized("db.gb=8000", "workload.growth_percent=0", "db.growth_percent=20")

    assert (card(sizing, "space").status, card(sizing, "space").exceeded_in) == ("fail", 3)
    assert card(sizing, "storage").last_year == card(sizing, "storage").share


@pytest.mark.parametrize(
    ("more", "basis", "said"),
    [
        (("db.gb=4000",), "+20 % a year for 3 years", True),
        (("db.gb=4000", "db.growth_percent=20"), "+20 % a year for 3 years", False),
        (("db.gb=4000", "db.growth_percent=50"), "load +20 %, data +50 % a year for 3 years", False),
        (("db.gb=4000", "db.growth_percent=0"), "load +20 %, data +0 % a year for 3 years", False),
        (("db.gb=4000", "workload.growth_percent=0"), "no growth for 3 years", False),
        (
            ("db.gb=4000", "workload.growth_percent=0", "db.growth_percent=5"),
            "load no growth, data +5 % a year for 3 years",
            False,
        ),
        ((), "+20 % a year for 3 years", False),
    ],
)
def test_the_answer_says_where_the_data_is_taken_to_grow_like_the_load(
    more: tuple[str, ...], basis: str, said: bool
) -> None:
    sizing = sized(*more)

    assert basis in basis_text(sizing.inputs)
    growth = " ".join(answer_lines(sizing, width=200)).partition("Growth   ")[2].partition("  ")[0]
    assert ("; the data grows like the load" in growth) == said
    space = sizing.find("verdict.space")
    line = "the data grows like the load, by 20 % a year (--set db.growth_percent=N for another rate)"
    assert (space is not None and line in space.working) == said


def test_sessions_grow_like_the_load_and_a_chosen_sga_not_at_all() -> None:
    memory = card(
        sized("sga.mb=102400", "memory.sessions=1000", "memory.session_mib=100", "db.growth_percent=50"), "memory"
    )

    assert memory.last_year == pytest.approx((100 + 1000 * 100 / 1024 * 1.728) / 1024)


def test_after_a_failure_the_sessions_of_a_cluster_grow_as_a_larger_part() -> None:
    settings = ("sga.mb=102400", "memory.sessions=1000", "memory.session_mib=100", "cluster.nodes=2")
    memory = card(sized(*settings), "memory")
    (lost,) = memory.failures

    assert lost.last_year == pytest.approx((100 + 2000 * 100 / 1024 * 1.728) / 1024)


def test_growth_after_a_failure_alone_makes_a_pass_a_warning() -> None:
    limits = ShareLimits(0.7, 1.0)
    still, doubled = Growth(0.0, 3), Growth(0.3, 3)

    assert limits.status(Shares(0.5, 0.6, still)) is ShareStatus.PASS
    assert limits.status(Shares(0.5, 0.6, still, growth_after=doubled)) is ShareStatus.WARN


def test_the_parts_of_a_sum_grow_apart() -> None:
    growth = growth_of_sum((300, Growth(0.1, 2)), (100, Growth(0.5, 2)))

    assert growth.factor() == pytest.approx((300 * 1.21 + 100 * 2.25) / 400)
    assert growth.factor(0) == 1
    assert growth_of_sum((300, Growth(0.1, 2)), (0, Growth(0.5, 2))) == Growth(0.1, 2)


def test_the_basis_of_a_verdict_on_space_names_the_rate_of_the_data() -> None:
    sizing = sized("db.gb=8000", "db.growth_percent=40")
    text = verdict_text(sizing, card_views(sizing, None))

    assert text.basis == "workload of your inputs; +40 % a year: 191 % in year 3"
