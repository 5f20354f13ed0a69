"""The network path to another host, by each address that matters."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from itertools import product

import psutil
from msgspec.structs import replace

from sizeup.errors import SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Settings, Step
from sizeup.model.sample import Coordinates, Estimate
from sizeup.probing.api import Context, Emission
from sizeup.units import as_percent, format_rate
from sizeup_net.link import Endpoint, PeerLink
from sizeup_net.measure import WARM_SECONDS, passing_packets, round_trips, transfer

NAME, MOST_ADDRESSES = "net.path", 8
START_SECONDS, PEER_SECONDS = 5.0, 60.0  # to start the peer, usually, and with a slow login
_LOSS_SHARE, _SLOW_SHARE = 0.001, 0.5
"""From and below which loss, and the speed of the path beside that of the interface, are findings."""
_BYTES_PER_MBIT = 125_000.0
_WAYS = {"send": "to", "receive": "from"}


class NetPath:
    """Round trips and transfers between this host and a peer that ssh starts on another one."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step; which of the addresses are of the host is known when the peer is there."""
        servers = dict.fromkeys(mount.address for mount in machine.nfs_mounts if mount.address)
        addresses = str(settings["address"]) or ",".join(list(servers)[:MOST_ADDRESSES])
        seconds, streams = float(settings["seconds"]), int(settings.get("streams", 1))
        runs = 2 * len({1, streams}) if settings["throughput"] else 0
        cap = float(settings.get("limit_mbit_s", 0))
        each = seconds + runs * (seconds + WARM_SECONDS)
        load = f"up to {streams} TCP streams {f'of {cap:g} Mbit/s together' if cap else 'at full speed'} for {each:g} s"
        yield Step(
            id=NAME,
            probe=NAME,
            title=f"Network path to {settings['host']}",
            settings={**settings, "address": addresses, "named": bool(settings["address"])},
            estimated_seconds=START_SECONDS + each,
            time_limit_seconds=PEER_SECONDS + MOST_ADDRESSES * (each + PEER_SECONDS),
            touches=f"the network path to {settings['host']}: {load if runs else 'small messages alone'} per address",
        )

    def run(self, step: Step, context: Context) -> Iterator[Emission]:
        """Start the peer, and measure each address that it has."""
        addresses = [address for address in str(step.settings["address"]).split(",") if address]
        link = PeerLink(step.settings, addresses, step.time_limit_seconds)
        context.on_cancel(link.process.kill)
        found: list[Estimate] = []
        with link.process:
            endpoints = link.listening()
            for endpoint in endpoints:
                try:
                    for emission in _measure(link, endpoint, step.settings, context):
                        found += [emission] if isinstance(emission, Estimate) else []
                        yield emission
                except SizeupError as error:
                    if len(endpoints) == 1:
                        raise
                    yield Gap(f"{NAME}: {endpoint[0]}", str(error))
            yield from _findings(found, capped=bool(step.settings.get("limit_mbit_s")))


def _measure(link: PeerLink, endpoint: Endpoint, settings: Settings, context: Context) -> Iterator[Emission]:
    seconds, rate = float(settings["seconds"]), round(float(settings.get("limit_mbit_s", 0)) * _BYTES_PER_MBIT)
    at: Coordinates = {"peer_address": endpoint[0]}
    yield from round_trips(link, endpoint, at, int(settings["message_bytes"]), seconds, context)
    broken = False
    for direction, way in _WAYS.items():
        mtu, passing = passing_packets(link, endpoint, sending=direction == "send")
        found = Estimate("mtu", {**at, "direction": direction}, passing, extra={"path_mtu_bytes": mtu})
        if passing < mtu:
            broken = True
            size = f"packets of {passing} bytes pass" if passing else "none of the sizes tried passes"
            found = _stated(
                found,
                f"Large packets {way} {endpoint[0]} get lost: {size}, those of {mtu} bytes (path MTU) do not",
                "NFS and replication hang as soon as they send much, while logins and small requests work.",
                "Set one MTU on every interface and switch of the path; let firewalls pass ICMP type 3 (ICMPv6 2).",
                "critical",
            )
        yield found
    if broken:
        yield Gap(f"{NAME}: throughput to {endpoint[0]}", "not measured: large packets do not pass")
    elif settings["throughput"]:
        for direction, streams in product(_WAYS, sorted({1, int(settings.get("streams", 1))})):
            point = {**at, "direction": direction, "streams": streams}
            yield from transfer(link, endpoint, point, seconds, rate, context)


def _findings(found: list[Estimate], *, capped: bool) -> Iterator[Estimate]:
    """Yield again, with a finding, the worst point of a path that loses packets, and the best of a slow one."""
    lossy = max((one for one in found if one.series == "retransmits"), key=lambda one: one.value, default=None)
    if lossy is not None and lossy.value >= _LOSS_SHARE:
        yield _stated(
            lossy,
            f"{100 * lossy.value:.2g} % of the packets on the path to {lossy.at['peer_address']} get lost",
            "What waits for a lost packet waits for a round trip more, or for 200 ms and longer.",
            "Loss of round trips, or with one stream, is no overload: check cables, duplex and switch counters.",
        )
    best = max((one for one in found if one.series == "rate"), key=lambda one: one.value, default=None)
    name, speed = _interface(str(best.at["peer_address"])) if best is not None and not capped else ("", 0.0)
    if best is not None and best.value < _SLOW_SHARE * speed:
        yield _stated(
            best,
            f"The path to {best.at['peer_address']} delivers {format_rate(best.value)}, "
            f"{as_percent(best.value / speed)} of the {format_rate(speed)} of {name}",
            "NFS, backups and replication get no more than that.",
            "Look for a slower link, a shaper or other traffic on the way, and at the loss and the CPU time.",
        )


def _stated(one: Estimate, statement: str, consequence: str, remedy: str, severity: str = "warning") -> Estimate:
    words = {"statement": statement, "severity": severity, "consequence": consequence, "remedy": remedy}
    return replace(one, extra={**one.extra, **words})


def _interface(peer_address: str) -> tuple[str, float]:
    """Return the interface that packets to an address leave by, and its speed in bytes per second; 0 if unknown."""
    with socket.socket(socket.AF_INET6 if ":" in peer_address else socket.AF_INET, socket.SOCK_DGRAM) as route:
        route.connect((peer_address, 9))  # sends nothing
        local, speeds = route.getsockname()[0], psutil.net_if_stats()
    for name, addresses in psutil.net_if_addrs().items():
        if any(one.address == local for one in addresses):
            return name, speeds[name].speed * _BYTES_PER_MBIT
    return "", 0.0
