"""What the answers about licenses name: units, reasons, options, sources."""

from sizeup.views.inputs.advice import advice_lines
from sizeup.views.result.licenses import license_table
from sizing.license_cases import RULES, XEON, found, sized

SERVER = ("machine.cores=32", "machine.sockets=4", "machine.threads_per_core=2", XEON)
CALS = ("license.pack=sql-server", "license.product=standard", "license.metric=server_cal", "license.users=20")


def demand(*settings: str) -> str:
    return next(card.demand for card in sized(*SERVER, *settings).cards if card.resource == "license")


def test_users_are_named_as_users_and_not_as_licenses_of_a_server() -> None:
    assert demand(*CALS) == "20 CALs and 1 server license, SQL Server Standard, $9,781 over 3 years"
    assert demand("license.metric=nup", "license.users=400").startswith("400 users, Oracle Database Enterprise")
    assert demand().startswith("16 x ")


def test_the_table_says_why_a_product_is_not_allowed_and_which_option_a_cluster_includes() -> None:
    table = license_table(sized(*SERVER, "cluster.nodes=2"), RULES)

    assert table.note is not None
    assert (
        "Not allowed: Oracle Database Standard Edition 2: only on servers built for at most two sockets" in table.note
    )
    assert "Oracle Database Enterprise Edition with Real Application Clusters" in {row[1] for row in table.rows}


def test_the_sockets_of_a_guest_are_called_virtual() -> None:
    assert "4 virtual sockets" in (license_table(sized(*SERVER, "machine.guest=yes"), RULES).note or "")


def test_what_was_read_through_others_is_no_first_hand_text() -> None:
    lines = advice_lines(found(sized(*SERVER), "license.units"), sources=True)
    quoted = [line for line in lines if "(read through:" in line]

    assert quoted
    assert not [line for line in quoted if "first-hand" in line]


def test_an_instance_of_a_cloud_is_not_judged_by_the_threads_of_this_machine() -> None:
    sizing = sized(*SERVER[1:], "license.product=se2", "license.scope=cloud", "machine.vcpus=8")

    assert found(sizing, "license.units").quantity is not None
    assert sizing.find("license.limit.oracle.se2.threads") is None


def test_a_smaller_machine_that_costs_as_little_as_nothing_is_no_advice() -> None:
    express = sized(*SERVER, "license.pack=sql-server", "license.product=express", "db.gb=20")

    assert "$0" not in found(express, "license.limit.sql.express.cores").verdict


def test_a_guest_is_told_how_to_license_the_whole_host_for_sql_server() -> None:
    guest = sized(*SERVER, "machine.guest=yes", "machine.vcpus=8", "license.pack=sql-server")
    assert any(
        "--set license.scope=bare license.host_cores=N license.host_sockets=N" in caveat
        for caveat in found(guest, "license.units").caveats
    )
    host = ("license.scope=bare", "license.host_cores=64", "license.host_sockets=2")
    counted = found(sized(*SERVER, "machine.guest=yes", "license.pack=sql-server", *host), "license.units").quantity
    assert counted.value == 32


def test_the_table_names_the_date_of_each_list_and_no_users_that_nobody_stated() -> None:
    note = license_table(sized(*SERVER), RULES).note or ""

    assert "Date of the lists: sql-server 2022; mysql 2026-03; " in note
    assert "oracle 2026-08-03." in note
    assert "users unknown" in note
    assert "400 users" in (license_table(sized(*SERVER, "license.users=400"), RULES).note or "")
    own = license_table(sized(*SERVER, "license.pack=db2", "license.list_usd=9"), RULES).note or ""
    assert "db2 20" not in own
