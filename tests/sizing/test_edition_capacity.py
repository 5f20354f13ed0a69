"""What the chosen edition of a database uses of the cores and the memory of a server."""

import pytest

from sizing.license_cases import XEON, found, sized
from sizing.sized import card

STANDARD = ("license.pack=sql-server", "license.product=standard", "machine.guest=no", XEON)
SE2 = ("license.product=se2", "machine.sockets=2", "machine.socket_capacity=2", "machine.guest=no", XEON)


def test_sessions_are_outside_of_the_buffer_pool_and_inside_of_the_memory_of_db2() -> None:
    settings = ("memory.sessions=4000", "memory.session_mib=10", "machine.memory_gib=1024")
    sql = card("memory", *STANDARD, "sga.mb=266240", *settings)
    db2 = card(
        "memory", "license.pack=db2", "license.product=standard", "machine.guest=no", XEON, "sga.mb=102400", *settings
    )

    assert sql.share == pytest.approx(260 / 256)
    assert db2.share == pytest.approx((100 + 4000 * 10 / 1024) / 128)


def test_memory_of_the_machine_counts_where_it_is_the_tighter_one() -> None:
    assert card("memory", *STANDARD, "sga.mb=102400", "machine.memory_gib=128").detected == "128 GiB"
    # 40 GiB of buffer pool are a small share of 256 GiB; with the sessions they are most of 300 GiB.
    busy = card(
        "memory", *STANDARD, "sga.mb=40960", "memory.sessions=20000", "memory.session_mib=10", "machine.memory_gib=300"
    )
    assert busy.share == pytest.approx((40 + 20000 * 10 / 1024) / 300)


def test_the_buffer_pool_of_express_is_1410_mib() -> None:
    settings = ("license.pack=sql-server", "license.product=express", "machine.guest=no", XEON, "db.gb=10")
    memory = card("memory", *settings, "sga.mb=2820", "machine.memory_gib=64")

    assert memory.share == pytest.approx(2)


SPARC = "machine.cpu_model=SPARC M8"


@pytest.mark.parametrize(
    ("percent", "setting", "status"),
    [
        (20, "machine.cores=32", "warn"),
        (4, "machine.cores=32", "pass"),
        (20, "machine.threads_per_core=1", "pass"),
        (20, "machine.threads_per_core=2", "warn"),
        (60, "machine.cores=32", "fail"),
        (20, SPARC, "uncertain"),
        (4, SPARC, "pass"),
    ],
)
def test_sixteen_threads_may_share_cores(percent: float, setting: str, status: str) -> None:
    """Of 32 cores 16 threads use 16; 8 with two threads each, the most of a Xeon, and 2 with the eight of a SPARC.

    20 % are 6.4 cores: 40 % of 16, 80 % of 8, 320 % of 2; 4 % are 1.28: 64 % of 2; 60 % are 19.2: 120 % of 16.
    """
    assert card("cpu", *SE2, "machine.cores=32", f"workload.cpu_percent={percent}", setting).status == status


def test_sixteen_cores_of_an_unknown_number_of_threads_may_have_more_than_sixteen() -> None:
    """8.23 busy cores are 51 % of 16 cores and 103 % of the 8 that 16 threads of two a core are."""
    load = ("workload.cpu_cores=8.23", "workload.specrate_per_core=5", "machine.specrate_per_core=5")
    cpu = card("cpu", *SE2, "machine.cores=16", *load)

    assert cpu.status == "uncertain"
    assert "(51 % to 103 %, because threads that the edition uses may share cores" in cpu.statement
    assert card("cpu", *SE2, "machine.cores=8", *load).status == "fail"  # 103 %, whatever the edition


def test_cores_of_one_thread_do_not_share_their_threads() -> None:
    """What is open then is the speed of the cores: nobody can turn off a second thread."""
    load = ("workload.cpu_cores=14", "workload.cpu_model=Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz")
    own = ("machine.cores=32", "machine.cpu_model=Intel(R) Xeon(R) Gold 6444Y", "machine.threads_per_core=1")
    cpu = card("cpu", *SE2, *own, *load, "workload.growth_percent=20", "workload.horizon_years=3")

    assert cpu.status == "uncertain"
    assert "because results of Sapphire Rapids range" in cpu.statement
    assert cpu.statement.endswith("machine.specrate_per_core=N to decide")


def test_threads_that_the_cores_alone_exceed_are_named_and_others_are_not() -> None:
    verdict = found(sized(*SE2, "machine.cores=32"), "license.limit.oracle.se2.threads").verdict

    assert verdict == (
        "Threads that one Standard Edition 2 database uses at a time: 16 threads of at least 32 threads; at least 16 "
        "threads remain unused"
    )
    perhaps = found(sized(*SE2, "machine.cores=16"), "license.limit.oracle.se2.threads")
    assert (perhaps.decision, "(--set machine.threads_per_core=N)" in perhaps.verdict) == ("unknown", True)
    assert sized(*SE2, "machine.cores=8").find("license.limit.oracle.se2.threads") is None


def test_threads_of_a_guest_are_its_virtual_cpus() -> None:
    guest = (
        "license.product=se2",
        "machine.guest=yes",
        "license.host_sockets=2",
        "machine.cores=32",
        "machine.threads_per_core=2",
    )

    assert found(sized(*guest, "machine.vcpus=8"), "license.limit.oracle.se2.threads").decision == "fits"
    assert "of 24 threads" in found(sized(*guest, "machine.vcpus=24"), "license.limit.oracle.se2.threads").verdict
