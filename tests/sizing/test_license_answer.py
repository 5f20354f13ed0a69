"""What a question about licenses alone is answered with, and what an answer that does not apply says."""

import pytest

from sizeup import cli
from sizeup.sizing.licensing.cost import LicenseCost
from sizeup.sizing.licensing.limits import LimitUse
from sizeup.sizing.licensing.required import LicenseCount, Permission
from sizeup.sizing.sheet import find_fact
from sizeup.views.result.answer import LINES, answer_lines
from sizing.license_cases import XEON, found, sized

SERVER = ("machine.cores=32", "machine.sockets=4", "machine.threads_per_core=2", XEON)
SQL = ("license.pack=sql-server", "license.product=standard")
GUEST = ("machine.guest=yes",)


def words(*settings: str) -> str:
    return " ".join(" ".join(answer_lines(sized(*settings))).split())


def test_a_question_about_licenses_alone_starts_with_its_answer() -> None:
    lines = answer_lines(sized(*SERVER, *SQL))

    assert lines[0] == "PASS     SQL Server Standard: 16 packs required"
    assert lines[1] == "Counted  4 sockets, 32 cores"
    assert any(line.startswith("Cost     3 years: $110,460 = ") for line in lines)
    assert not [line for line in lines if "workload" in line.lower() or line.startswith(("Storage", "CPU", "Memory"))]
    assert len(lines) <= LINES


def test_an_edition_that_is_not_permitted_starts_with_the_rule_and_nothing_of_its_use() -> None:
    text = words(*SERVER, "license.product=se2")

    assert text.startswith("FAIL Oracle Database Standard Edition 2 is not permitted on this server: only on servers")
    assert "Unused" not in text
    assert "Cheapest permitted: Oracle EE" in text
    assert "! Whether each chip of a multi-chip module counts as a socket could not be confirmed. If not" in text
    assert "multi-chip" not in words(*SERVER, "license.product=se2", "machine.socket_capacity=4")


def test_a_count_that_lacks_an_input_of_the_machine_names_its_key() -> None:
    text = words("license.scope=cloud", "machine.vcpus=8", "license.product=ee")

    assert text.startswith("UNKNOWN Licenses: unknown, because an input is missing (hardware threads of a core")
    assert "--set machine.threads_per_core=N" in text


def test_a_count_that_is_unknown_starts_with_what_makes_it_known() -> None:
    lines = answer_lines(sized(*SERVER, *GUEST, "license.pack=oracle"))

    assert lines[0].startswith("UNKNOWN  License count: unknown without the number of cores of all hosts")
    assert any("--set license.scope=cloud machine.vcpus=N" in line for line in lines)


def test_what_was_counted_is_of_each_server_and_no_users_that_nobody_stated() -> None:
    pair = answer_lines(sized("machine.cores=32", XEON, "license.product=ee", "cluster.nodes=2"))
    users = answer_lines(sized(*SERVER, *SQL, "license.metric=server_cal"))

    assert "Counted  2 servers, each with 32 cores, Intel(R) Xeon(R) CPU E5320 @ 1.86GHz" in pair
    assert users[0].startswith("UNKNOWN  License count: unknown without the number of named users")
    assert not [line for line in users if "0 users" in line or "0 CALs" in line]


def test_users_are_those_of_all_servers_together() -> None:
    """30 users on two servers are 30: the larger of users and 10 for each server."""
    server = ("license.product=se2", "license.metric=nup", "license.users=30", "machine.sockets=1", "cluster.nodes=2")
    pair = answer_lines(sized(*server, "machine.cores=8", "machine.socket_capacity=2"))
    by_core = words("license.product=ee", "machine.cores=8", XEON, *server[1:])

    assert pair[0].endswith("30 users required")
    assert "Counted  2 servers; 30 users in all" in pair
    assert "Counted 2 servers, each with 8 cores, Intel(R) Xeon(R) CPU E5320 @ 1.86GHz; 30 users in all" in by_core


def test_a_cost_that_nobody_chose_names_its_product() -> None:
    server = ("machine.cores=32", "machine.socket_capacity=2", XEON, "workload.iops=1000", "capacity.iops=9000")

    assert "Cost Oracle EE (no database is chosen), 3 years: $1,261,600 = " in words(*server)
    assert "Cost 3 years: $1,261,600 = " in words(*server, "license.product=ee")


def test_a_price_that_is_not_public_is_named_once() -> None:
    text = words("machine.cores=8", "license.pack=db2")

    assert text.count("has no public price") == 1
    assert "Support: $0" not in words("machine.cores=8", "license.pack=db2", "license.list_usd=9")


def test_with_a_workload_the_licenses_are_a_row() -> None:
    lines = answer_lines(sized(*SERVER, *SQL, "workload.iops=4000", "capacity.iops=9000"))

    assert lines[0].startswith("PASS     Storage")
    assert any(line.startswith("License  16 x SQL Server Standard") for line in lines)


def test_an_edition_that_is_assumed_to_be_permitted_says_why() -> None:
    sizing = sized("license.product=se2", "license.host_sockets=2", *GUEST)
    card = next(card for card in sizing.cards if card.resource == "license")

    why = "Assumed: permitted only on servers built for at most two sockets, occupied or not"
    assert card.status == "assumed"
    assert [note for note in card.sentences if note.startswith(why)]
    assert f"! {why}. Use --set machine.socket_capacity=N" in words(
        "license.product=se2", "license.host_sockets=2", *GUEST
    )


@pytest.mark.parametrize(
    ("settings", "status"),
    [(GUEST, "assumed"), ((*GUEST, "license.host_sockets=2"), "pass"), (("machine.sockets=8",), "pass")],
)
def test_a_price_that_depends_on_unknown_sockets_does_not_pass(settings: tuple[str, ...], status: str) -> None:
    sizing = sized("license.pack=mysql", "license.product=enterprise", *settings)
    card = next(card for card in sizing.cards if card.resource == "license")

    assert card.status == status
    assumed = [note for note in card.sentences if note.startswith("Assumed: one of two prices; the price depends on")]
    assert bool(assumed) is (status == "assumed")


@pytest.mark.parametrize(
    ("pack", "said", "other"),
    [
        (
            "db2",
            "! Assumed: Db2 11.5 Advanced Edition, as no product is set: --set license.product=TEXT, such as",
            "advanced",
        ),
        ("mysql", "MySQL Community is assumed, as no edition is set.", "enterprise"),
    ],
)
def test_a_product_that_nobody_chose_does_not_pass(pack: str, said: str, other: str) -> None:
    text = words(*SERVER, f"license.pack={pack}")

    assert text.startswith("ASSUMED ")
    assert said in text
    assert other in text.lower()
    assert words(*SERVER, f"license.pack={pack}", f"license.product={other}").startswith("PASS ")


def test_the_only_product_of_a_vendor_passes() -> None:
    assert words(*SERVER, "license.pack=postgresql").startswith("PASS ")


def test_a_count_that_is_the_same_in_a_cloud_is_not_compared_with_one() -> None:
    for settings in (("license.pack=sap-hana",), (*SQL, "license.metric=server_cal", "license.users=9")):
        assert sized(*SERVER, "machine.memory_gib=99.12345", *settings).find("license.cloud") is None
    assert "Counted 99.12 GiB" in words(*SERVER, "machine.memory_gib=99.12345", "license.pack=sap-hana")


def test_a_count_that_is_a_range_does_not_pass() -> None:
    for model, status in (("Waltrapp One", "assumed"), (XEON.partition("=")[2], "pass")):
        sizing = sized("machine.cores=32", f"machine.cpu_model={model}", "license.product=ee")
        assert next(card for card in sizing.cards if card.resource == "license").status == status


def explained(capsys: pytest.CaptureFixture[str], name: str, *settings: str) -> tuple[int, str]:
    status = cli.run(["size", "--machine", "none", "--show", name, "--set", *settings])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("license.allowed", SQL, "Nothing restricts this product here"),
        ("license.allowed", ("license.product=ee",), "Nothing restricts this product here"),
        ("license.cloud", ("license.scope=cloud", "machine.vcpus=64"), "Nothing to compare: only the licenses of phys"),
        ("license.failover", ("license.product=ee",), "No server is left out: this is one server"),
        ("license.edition", ("license.pack=postgresql",), "Nothing to compare: no other edition"),
    ],
)
def test_an_answer_with_nothing_to_say_is_no_error(
    capsys: pytest.CaptureFixture[str], name: str, settings: tuple[str, ...], said: str
) -> None:
    status, text = explained(capsys, name, *SERVER, *settings)

    assert status == 0
    assert said in text


@pytest.mark.parametrize(
    ("name", "settings", "key"),
    [
        ("license.allowed", (*GUEST, "license.product=se2"), "license.host_sockets"),
        ("license.edition", (*GUEST, "license.product=ee"), "license.host_cores"),
        ("license.cloud", ("machine.cpu_model=Intel(R) Xeon(R)",), "machine.cores"),
    ],
)
def test_an_answer_that_lacks_an_input_is_an_error_with_its_flag(
    capsys: pytest.CaptureFixture[str], name: str, settings: tuple[str, ...], key: str
) -> None:
    status, text = explained(capsys, name, *settings)

    assert status == 2
    assert f"--set {key}=N" in text


def test_the_host_of_a_guest_is_not_compared_with_its_virtual_cores_in_a_cloud() -> None:
    sizing = sized(*SERVER, *SQL, *GUEST, "license.scope=bare", "license.host_cores=64", "license.host_sockets=2")

    assert found(sizing, "license.units").quantity is not None
    assert sizing.find("license.cloud") is None


def test_a_count_of_users_is_whole() -> None:
    verdict = found(sized(*SERVER, *SQL), "license.break-even.sql.server_cal_below").verdict

    assert verdict.endswith(": 271 CALs")


def test_what_the_card_says_stands_as_values_beside_it() -> None:
    sizing = sized(*SERVER, "machine.sockets=2", "license.product=se2", "license.term_years=5")
    permission, count, cost = (find_fact(sizing.facts, kind) for kind in (Permission, LicenseCount, LicenseCost))
    exceeded = [one for one in sizing.facts if isinstance(one, LimitUse) and one.is_exceeded]

    assert isinstance(permission, Permission)
    assert (permission.decision, permission.place) == ("assumed", "server")
    assert isinstance(count, LicenseCount)
    assert count.product == permission.product
    assert isinstance(cost, LicenseCost)
    assert (cost.years, cost.total) == (5, found(sizing, "license.cost.term").quantity)
    assert [(one.usable, one.present) for one in exceeded] == [(16, 64)]


def test_an_assumption_names_the_key_that_states_it() -> None:
    count = find_fact(sized(*GUEST, "license.product=ee", "license.host_cores=64").facts, LicenseCount)

    assert count is not None
    assert [one.key for one in count.assumptions] == ["license.scope"]


@pytest.mark.parametrize("product", ["license.product=ee", "license.product=se2"])
def test_a_license_question_without_cores_asks_for_them_and_for_no_workload(product: str) -> None:
    text = words(product)

    assert text.startswith("UNKNOWN Licenses: unknown, because an input is missing")
    assert "Use --set machine." in text
    assert "workload" not in text
