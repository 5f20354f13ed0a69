"""Which interface a connection takes, and whether an NFS server answers: by the kernel's tables alone."""

from pathlib import Path

import pytest

from sizeup.discovery.routes import Routes
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.storage import Transport
from trees import discovered, grow

HEAD = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"
ROUTES = (
    f"/proc/net/route = {HEAD}\\n"
    "eth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0\\n"
    "eth0 000200C0 00000000 0001 0 0 100 00FFFFFF 0 0 0\\n"
    "eth1 000A000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\\n"
    "eth2 000B000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\\n"
    "eth3 000B000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\\n"
    "* 000C000A 00000000 0200 0 0 0 00FFFFFF 0 0 0\n"
)
ZERO = "0" * 32
NET = "20010db8000000010000000000000000"
HOST = "20010db8000000010000000000000009"
ROUTES6 = (
    "/proc/net/ipv6_route = "
    f"{NET} 40 {ZERO} 00 {ZERO} 00000100 1 0 00000001 eth1\\n"
    f"{ZERO} 00 {ZERO} 00 fe800000000000000000000000000001 00000400 1 0 00000003 eth0\\n"
    f"{HOST} 80 {ZERO} 00 {ZERO} 00000000 1 0 80200001 lo\\n"
    f"ff000000000000000000000000000000 08 {ZERO} 00 {ZERO} 00000100 1 0 00000001 eth1\\n"
    f"{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 1 0 00200200 lo\n"
    f"/proc/net/if_inet6 = {HOST} 03 40 00 80     eth1\n"
)


@pytest.mark.parametrize(
    ("server", "nic"),
    [
        ("192.0.2.7", "eth0"), ("10.0.10.7", "eth1"), ("10.0.11.7", "eth2"), ("203.0.113.1", "eth0"),
        ("10.0.12.7", "eth0"), ("127.0.0.1", "lo"), ("::1", "lo"),
        ("2001:db8:0:1::7", "eth1"), ("2001:db8:9::7", "eth0"), ("2001:db8:0:1::9", "lo"), ("fe80::7%eth3", "eth3"),
        ("filer", None), ("", None), (None, None), ("999.1.1.1", None),
    ],
)  # fmt: skip
def test_the_longest_prefix_leads_to_a_server(tmp_path: Path, server: str | None, nic: str | None) -> None:
    assert Routes(Sysroot(grow(tmp_path, ROUTES + ROUTES6))).to(server) == nic


@pytest.mark.parametrize(
    ("local", "nic"),
    [
        ("192.0.2.9", "eth0"), ("10.0.10.9", "eth1"), ("10.0.11.9", None), ("203.0.113.9", None), ("0.0.0.0", None),
        ("2001:db8:0:1::9", "eth1"), ("2001:0db8:0000:0001:0000:0000:0000:0009", "eth1"), ("2001:db8:0:1::8", None),
    ],
)  # fmt: skip
def test_a_local_address_stands_on_one_interface_or_on_none_that_is_known(
    tmp_path: Path, local: str, nic: str | None
) -> None:
    assert Routes(Sysroot(grow(tmp_path, ROUTES + ROUTES6))).holding(local) == nic


def test_without_tables_no_interface_is_named(tmp_path: Path) -> None:
    routes = Routes(Sysroot(grow(tmp_path, "/proc/meminfo = MemTotal: 1 kB\n")))

    assert (routes.to("192.0.2.7"), routes.holding("192.0.2.9"), routes.holding("::2")) == (None, None, None)


def mount(address: str, options: str = "") -> str:
    point = "36 35 0:42 / /u02 rw shared:9"
    return f"/proc/self/mountinfo = {point} - nfs4 filer:/u02 rw,vers=4.1,proto=tcp{options},addr={address}\n"


def test_nfs_over_ipv6_is_followed_to_its_interface(tmp_path: Path) -> None:
    (found,) = discovered(tmp_path, ROUTES + ROUTES6 + mount("2001:db8:0:1::7")).nfs_mounts

    assert (found.address, found.nic) == ("2001:db8:0:1::7", "eth1")


SESSION = "/sys/devices/platform/host5/session1"
ISCSI = (
    "/sys/class/net/eth{1-3}/device/vendor = 0x8086\n"
    "/sys/class/net/eth1/device -> /sys/devices/pci0000:00/0000:00:01.0\n"
    "/sys/devices/pci0000:00/0000:00:01.0/numa_node = 1\n"
    "/sys/class/iscsi_host/host5 -> /sys/devices/platform/host5/iscsi_host/host5\n"
    f"/sys/class/iscsi_session/session1 -> {SESSION}/iscsi_session/session1\n"
    f"{SESSION}/iscsi_session/session1/targetname = iqn.2026-01.test:array\n"
    "/sys/class/iscsi_connection/connection1:0/port = 3260\n"
).replace("/sys/class/net/eth{1-3}/device/vendor = 0x8086\n", "/sys/class/net/eth1/operstate = up\n")


def iscsi(local: str, portal: str) -> str:
    return (
        f"{ISCSI}/sys/devices/platform/host5/iscsi_host/host5/ipaddress = {local}\n"
        f"/sys/class/iscsi_connection/connection1:0/address = {portal}\n"
    )


@pytest.mark.parametrize(
    ("local", "portal", "nic", "node"),
    [
        ("10.0.10.9", "203.0.113.5", "eth1", 1),  # bound to an address: the route to the portal says otherwise
        ("0.0.0.0", "10.0.10.5", "eth1", 1),
        ("10.0.11.9", "10.0.11.5", "eth2", None),  # two interfaces in one network: the kernel takes the first route
        ("2001:db8:0:1::9", "2001:db8:9::5", "eth1", 1),
        ("nonsense", "nonsense", None, None),
    ],
)
def test_a_session_is_followed_to_its_interface(
    tmp_path: Path, local: str, portal: str, nic: str | None, node: int | None
) -> None:
    (hba,) = discovered(tmp_path, ROUTES + ROUTES6 + iscsi(local, portal)).hbas

    assert (hba.transport, hba.net_device, hba.node) == (Transport.ISCSI, nic, node)


CONTROLLER = "/sys/class/nvme/nvme0"


@pytest.mark.parametrize(
    ("address", "nic"),
    [
        ("traddr=10.0.10.5,trsvcid=4420", "eth1"),
        ("traddr=203.0.113.5,trsvcid=4420,src_addr=10.0.10.9", "eth1"),
        ("traddr=203.0.113.5,trsvcid=4420,host_traddr=10.0.10.9", "eth1"),
        ("traddr=10.0.11.5,trsvcid=4420,host_iface=eth3", "eth3"),
        ("traddr=2001:db8:0:1::7,trsvcid=4420", "eth1"),
        ("traddr=,trsvcid", None),
    ],
)
def test_a_controller_over_tcp_is_followed_to_its_interface(tmp_path: Path, address: str, nic: str | None) -> None:
    tree = f"{CONTROLLER}/transport = tcp\n{CONTROLLER}/address = {address}\n"
    (found,) = discovered(tmp_path, ROUTES + ROUTES6 + tree).nvme_controllers

    assert found.net_device == nic


def test_a_controller_over_fibre_channel_is_where_its_adapter_is(tmp_path: Path) -> None:
    port = "/sys/devices/pci0000:00/0000:00:07.0/host1/fc_host/host1"
    tree = (
        f"/sys/class/fc_host/host1 -> {port}\n{port}/port_name = 0x100000109b123456\n"
        "/sys/devices/pci0000:00/0000:00:07.0/numa_node = 1\n"
        f"{CONTROLLER}/transport = fc\n"
        f"{CONTROLLER}/address = traddr=nn-0x1:pn-0x2,host_traddr=nn-0x200000109b123456:pn-0x100000109b123456\n"
    )
    (found,) = discovered(tmp_path, tree).nvme_controllers

    assert (found.pci_address, found.node) == ("0000:00:07.0", 1)


def xprt(state: str, address: str = "192.0.2.7") -> str:
    base = "/sys/kernel/sunrpc/xprt-switches/switch-1/xprt-2-tcp"
    return f"{base}/dstaddr = {address}\n{base}/xprt_state = state={state}\n"


TCP_HEAD = "sl local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt"
OTHER = "0: 0902_0:0 0100007F:0801 01 00000000:00000000 00:00000000 00000009"


def tcp(state: str, lost: int, remote: str = "070200C0:0801", name: str = "tcp") -> str:
    line = f"1: 090200C0:03E8 {remote} {state} 00000000:00000000 01:00000000 {lost:08X} 0 0 1"
    return f"/proc/net/{name} = {TCP_HEAD}\\n{OTHER}\\n{line}\n"


def unanswered(tmp_path: Path, *tree: str) -> str | None:
    (found,) = discovered(tmp_path, "".join((mount("192.0.2.7"), *tree))).nfs_mounts
    return found.unanswered


MAPPED = "0000000000000000FFFF0000070200C0:0801"


def test_a_server_whose_connection_is_not_accepted_does_not_answer(tmp_path: Path) -> None:
    assert unanswered(tmp_path, xprt(" CONNECTING  BOUND"), tcp("02", 3)) == (
        "TCP connection to port 2049 is not accepted (SYN_SENT, 3 retransmissions)"
    )


def test_a_server_that_acknowledges_nothing_does_not_answer(tmp_path: Path) -> None:
    words = "TCP connection to port 2049 is not acknowledged (5 retransmissions)"
    stats = "device filer:/u02 mounted on /u02 with fstype nfs4 statvers=1.1\\n\\txprt: tcp 900 1 1 0 5 9 7 0 0 0 0 0 0"

    assert unanswered(tmp_path / "waiting", f"/proc/self/mountstats = {stats}\n", tcp("01", 5, MAPPED, "tcp6")) == words


@pytest.mark.parametrize(
    "tree",
    [
        xprt(" CONNECTED  BOUND") + tcp("01", 0),
        xprt(" CONNECTED  BOUND") + tcp("02", 9),  # nothing waits: the connection is of another client
        xprt("CLOSED") + tcp("01", 9),  # an idle mount has no connection
        xprt(" CONNECTING  BOUND") + tcp("02", 0),  # the first second of a connection
        xprt(" CONNECTING  BOUND") + tcp("02", 9, "080200C0:0801"),
        xprt(" CONNECTING  BOUND"),
        "",
    ],
)
def test_a_server_is_not_said_to_be_gone_without_a_sign_of_it(tmp_path: Path, tree: str) -> None:
    assert unanswered(tmp_path, tree) is None


def test_a_route_that_refuses_leads_nowhere(tmp_path: Path) -> None:
    refusing = f"/proc/net/ipv6_route = {ZERO} 00 {ZERO} 00 {ZERO} ffffffff 1 0 00200201 lo\n"
    closed = f"/proc/net/route = {HEAD}\\neth0 00000000 00000000 0201 0 0 0 00000000 0 0 0\n"
    routes = Routes(Sysroot(grow(tmp_path, refusing + closed)))

    assert (routes.to("2001:db8:9::7"), routes.to("203.0.113.1")) == (None, None)
