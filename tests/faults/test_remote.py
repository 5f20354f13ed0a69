"""Every fault while another host is measured: its session arrives as far as it was written, and nothing stays there."""

import asyncio
import os
import re
import shlex
import shutil
import sys
import time

import pytest

from faults.scenes import FAULTS, OF_REMOTE, RUN, STAGES, Scene, fill
from remote.ssh_stand_in import make_ssh, make_wheel
from remote.target_host import TargetHost, host, until
from sizeup.remote.measurement import HostResult
from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS

pytestmark = pytest.mark.ci
__all__ = ["host"]
_IN_GATE = {"SIGKILL of the worker", "EIO"}
_MOST_SECONDS = 30


def ssh_into(scene: Scene, host: TargetHost, rule: str) -> str:
    """Write a program for ssh that runs the command in the scene, whose programs fail as the rule says."""
    nsenter, *options = scene.entered("/bin/sh")
    enter = shlex.join([shutil.which(nsenter) or nsenter, *options])
    stated = {name: text for name, text in scene.environment(rule).items() if os.environ.get(name) != text}
    exports = "\n".join(f"export {name}={shlex.quote(text)}" for name, text in stated.items())
    inside = f'[ -n "$INSIDE" ] || INSIDE=1 exec {enter} "$0" "$@"'
    return make_ssh(host.folder / "bin", before=f"{inside}\n{exports}")


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in _IN_GATE else pytest.mark.long) for fault in OF_REMOTE]
)
def test_a_host_outlives_the_fault_of_its_run(scene: Scene, host: TargetHost, fault: str) -> None:
    made, at = FAULTS[fault], STAGES["measure"]
    held = made.action == "wait"
    action = f"wait {scene.barrier}" if held else made.action
    rule = f"{at.call}|{scene.target}|{at.skip}|{action}"
    scene.mount("-t", "tmpfs", "-o", "size=80m", "tmpfs", str(host.temporary))
    program = [sys.executable, "-m", "sizeup"]
    make_wheel(host.wheels, content=b"", behavior=f"os.execv({sys.executable!r}, [*{program!r}, *sys.argv[1:]])")
    options = (*RUN[RUN.index("--full-load") :], f"io.direct.path={scene.target}")

    async def inject() -> float:
        reached = scene.barrier / "reached"
        until_then = time.monotonic() + PATIENCE_SECONDS
        while held and not reached.exists():
            assert time.monotonic() < until_then, "the stage was never reached"
            await asyncio.sleep(0.01)
        if held:
            scene.held = int(reached.read_text())
            made.make(scene)
            if fault == "file system full":
                fill(scene.inside(host.temporary))
            (scene.barrier / "go").touch()
        return time.monotonic()

    async def measure() -> tuple[HostResult, float]:
        run = host.run.measure(ssh_into(scene, host, rule), host.sent, options)
        result, since = await asyncio.gather(run, inject())
        return result, time.monotonic() - since

    result, seconds = asyncio.run(measure())

    print(result, f"{seconds:.1f} s", host.shown)
    session = read_session(result.path)
    reasons = [outcome.reason for outcome in session.outcomes.values()]
    told = "\n".join((result.problem, *host.shown, *reasons))
    assert session.damage.malformed == 0
    assert reasons
    assert "Traceback" not in told
    assert not made.words or re.search(made.words, told, re.IGNORECASE), told
    assert seconds < _MOST_SECONDS
    assert scene.left() == []
    until(lambda: {path.name for path in scene.inside(host.temporary).iterdir()} <= {"filler"})
