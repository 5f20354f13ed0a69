"""The path between two network namespaces that is shaped or broken; needs root and the tools of iproute2."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizeup.child_process import environment, sizeup_command
from sizeup.session.reader import read_session
from sizeup.session.value import StepRun

pytestmark = [pytest.mark.ci, pytest.mark.alone]  # a namespace is a mount, which another test would find as drift
HERE, THERE = "10.99.0.1", "10.99.0.2"
_SSH = """#!/bin/sh
for command; do :; done
SSH_CONNECTION="{here} 50000 {there} 22" exec ip netns exec {name} sh -c "$command"
"""


class Namespaces:
    """Two network namespaces with a link between them, and a stand-in for ssh from the one to the other."""

    def __init__(self, folder: Path) -> None:
        self.near, self.far = f"sizeup-{os.getpid()}-a", f"sizeup-{os.getpid()}-b"
        self._folder = folder
        ssh = folder / "ssh"
        ssh.write_text(_SSH.format(here=HERE, there=THERE, name=self.far))
        ssh.chmod(0o755)

    def make(self) -> None:
        for name in (self.near, self.far):
            self.command("ip", "netns", "add", name)
        # Packets of their real size, which a rule sees as a switch would.
        size = ("gso_max_segs", "1")
        self.command("ip", "-n", self.near, "link", "add", "to-b", *size, "type", "veth",
                     "peer", "name", "to-a", *size, "netns", self.far)  # fmt: skip
        for name, link, address in ((self.near, "to-b", HERE), (self.far, "to-a", THERE)):
            self.command("ip", "-n", name, "address", "add", f"{address}/24", "dev", link)
            self.command("ip", "-n", name, "link", "set", link, "up")

    def remove(self) -> None:
        for name in (self.near, self.far):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)

    def command(self, *words: str) -> str:
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def inside(self, name: str, *words: str) -> str:
        return self.command("ip", "netns", "exec", name, *words)

    def measure(self, *settings: str) -> StepRun:
        path = str(self._folder / f"session-{len(list(self._folder.iterdir()))}")
        options = [f"net.path.{setting}" for setting in ("seconds=0.5", *settings)]
        command = sizeup_command("net", "db02", "-q", "-o", path, "--set", *options)
        subprocess.run(
            ["ip", "netns", "exec", self.near, *command],
            check=True,
            capture_output=True,
            env=environment({"PATH": f"{self._folder}{os.pathsep}{os.environ['PATH']}"}),
        )
        (run,) = read_session(path).steps.values()
        return run


@pytest.fixture
def namespaces(tmp_path: Path) -> Iterator[Namespaces]:
    if os.geteuid() or not all(map(shutil.which, ("ip", "tc", "ss"))):
        pytest.skip("needs root, ip, tc and ss")
    made = Namespaces(tmp_path)
    try:
        made.make()
        yield made
    finally:
        made.remove()


def figures(run: StepRun, series: str) -> dict[object, float]:
    found = [point for point in run.points.values() if point.series == series and point.estimate is not None]
    return {
        (point.at.get("direction"), point.at.get("streams")): point.estimate.value for point in found if point.estimate
    }


def statements(run: StepRun) -> list[str]:
    estimates = (point.estimate for point in run.points.values())
    return [str(one.extra["statement"]) for one in estimates if one is not None and "statement" in one.extra]


def test_a_shaped_path_has_the_rate_of_its_shaper_and_is_named_as_slow(namespaces: Namespaces) -> None:
    shape = ("tbf", "rate", "40mbit", "burst", "32k", "latency", "50ms")
    namespaces.inside(namespaces.near, "tc", "qdisc", "add", "dev", "to-b", "root", *shape)

    run = namespaces.measure()

    rates = figures(run, "rate")
    for streams in (1, 4):
        # 1,448 of 1,514 bytes of a frame; what the bucket had saved comes at the start, which does not count.
        assert 1e6 < rates["send", streams] < 5e6
    assert rates["receive", 1] > 5e6
    assert figures(run, "mtu") == {("send", None): 1500, ("receive", None): 1500}
    assert namespaces.inside(namespaces.far, "ss", "-Htln") == ""
    namespaces.inside(namespaces.far, "tc", "qdisc", "add", "dev", "to-a", "root", *shape)
    assert any(f"The path to {THERE} delivers" in one for one in statements(namespaces.measure("streams=1")))


@pytest.mark.parametrize(("rule", "words"), [
    (("ip", "length", "gt", "1400"), "packets of 1400 bytes pass, those of 1500 bytes (path MTU) do not"),
    (("numgen", "random", "mod", "20", "==", "0"), "of the packets on the path to"),
])  # fmt: skip
def test_a_broken_path_is_named(rule: tuple[str, ...], words: str, namespaces: Namespaces) -> None:
    if shutil.which("nft") is None:
        pytest.skip("needs nft")
    far = namespaces.far
    namespaces.inside(far, "nft", "add", "table", "inet", "f")
    namespaces.inside(far, "nft", "add", "chain", "inet", "f", "in", "{ type filter hook input priority 0; }")
    namespaces.inside(far, "nft", "add", "rule", "inet", "f", "in", *rule, "drop")

    found = statements(namespaces.measure("seconds=2", "streams=1"))

    assert any(words in one for one in found), found
