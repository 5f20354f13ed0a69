"""Where and as whom sizeup is run: nobody without capabilities, planted files, little memory or disk, a hung server."""

import os
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faults import hung_mount
from faults.scenes import RUN
from marked_processes import marked_processes
from planted import names_that_ran, plant
from sizeup.session.reader import read_session
from terminal import Terminal

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(
        subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
        reason="this kernel lets nobody make a namespace",
    ),
]
_MARK = "SIZEUP_SURROUNDINGS"
_NULL = ("run", "-q", "-p", "null", "--set", "null.samples=20")
_AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o777)
    return folder


@pytest.fixture
def run(state: Path) -> Run:
    """Run sizeup behind a command line; what it says is no traceback, and nobody of it is left."""
    mark = uuid.uuid4().hex

    def start(*arguments: str, within: tuple[str, ...] = (), **more: str | Path) -> subprocess.CompletedProcess[str]:
        directory = more.pop("cwd", state)
        places = {"XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state), _MARK: mark, "LC_ALL": "C.UTF-8"}
        environment = {**os.environ, **places, **{name: str(value) for name, value in more.items()}}
        done = subprocess.run(
            [*within, sys.executable, "-P", "-m", "sizeup", *arguments],
            env=environment, cwd=directory, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        deadline = time.monotonic() + 15
        while marked_processes(_MARK, mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert marked_processes(_MARK, mark) == []
        return done

    return start


def _shown_to_all(*paths: str) -> str:
    """A script that lets everybody reach directories below ones that only root may enter, in this mount namespace."""
    lines = []
    for path in map(Path, paths):
        closed = next((above for above in reversed(path.parents) if not above.stat().st_mode & stat.S_IXOTH), None)
        if closed is not None:
            lines.append(
                f"exec 9<{path}; mountpoint -q {closed} || mount -t tmpfs -o mode=755 tmpfs {closed}; "
                f"mkdir -p {path}; mount -c --bind /proc/self/fd/9 {path}"
            )
    return "; ".join(lines) or ":"


@_AS_ROOT
@pytest.mark.parametrize(
    ("home", "status", "said"),
    [("state", 0, "Session saved"), ("/nonexistent", 2, "choose a file with -o, or set XDG")],
)
def test_nobody_without_capabilities(run: Run, state: Path, home: str, status: int, said: str) -> None:
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
    script = f'set -e; {_shown_to_all(sys.base_prefix, str(Path(__file__).parents[2]), str(state))}; cd /; exec "$@"'
    state.chmod(0o777)
    within = ("unshare", "-m", "--propagation=private", "sh", "-c", script, "sh", *nobody, "--no-new-privs")

    done = run(*_NULL, within=within, XDG_STATE_HOME=state if home == "state" else f"{home}/state", cwd="/")

    assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done.stderr
    assert len(list(state.rglob("*.jsonl"))) == (status == 0)


@_AS_ROOT
def test_root_in_a_directory_of_planted_links_and_modules(run: Run, tmp_path: Path) -> None:
    folder, victim = tmp_path / "shared", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("kept")
    for name in ("a.sizeup.jsonl", "page.html", "c.tar.gz"):
        (folder / name).symlink_to(victim)
        os.lchown(folder / name, 65534, 65534)
    ran = plant(folder)
    folder.chmod(0o1777)

    written = run(*_NULL, "-o", "a.sizeup.jsonl", cwd=folder)
    assert run(*_NULL, cwd=folder).returncode == 0
    exported = run("session", "export", "latest", "--format=html", "-o", "page.html", cwd=folder)
    captured = run("capture", "c.tar.gz", cwd=folder)

    assert [one.returncode for one in (written, exported, captured)] == [3, 3, 2]
    print(written.stderr, exported.stderr, captured.stderr)
    assert all(done.stderr.startswith("sizeup: ") for done in (written, exported, captured))
    assert victim.read_text() == "kept"
    assert names_that_ran(ran) == ""


@pytest.fixture
def little_memory() -> Iterator[tuple[str, ...]]:
    """A command line that starts what follows in a control group of 256 MB."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = Path(root) / f"sizeup-test-{uuid.uuid4().hex}"
        try:
            group.mkdir()
            (group / limit).write_text("256000000")
        except OSError:
            with_group = False
        else:
            with_group = True
        if with_group:
            yield ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
            group.rmdir()
            return
        if group.is_dir():
            group.rmdir()
    pytest.skip("no control group of memory can be made here")


def test_in_a_control_group_of_256_mb(run: Run, little_memory: tuple[str, ...], tmp_path: Path, state: Path) -> None:
    done = run(*RUN, f"io.direct.path={tmp_path}", "io.direct.reserve=1MiB", within=little_memory)

    (path,) = state.rglob("*.jsonl")
    assert (done.returncode, read_session(str(path)).end.status) == (0, "complete"), done.stderr
    assert list(tmp_path.iterdir()) == [state]


def test_with_a_disk_of_1_mb(run: Run, state: Path) -> None:
    """State, target and temporary files share it; the session of many samples does not fit."""
    kept = state.parent / "kept"
    kept.mkdir()
    mount = f"exec 9<{kept}; mount -t tmpfs -o size=1m tmpfs {state} && cd {state}"
    script = f'{mount} && "$@"; code=$?; cp -r {state}/. /proc/self/fd/9; exit $code'
    within = ("unshare", "-rm", "--propagation=private", "sh", "-c", script, "sh")

    refused = run(*RUN, f"io.direct.path={state}", within=within, TMPDIR=state)
    assert refused.returncode == 3
    assert "1 refused" in refused.stdout
    shutil.rmtree(kept / "sizeup")
    full = run(*_NULL[:-1], "null.samples=90000", "null.interval=0", within=within, TMPDIR=state)

    assert full.returncode == 2
    assert "No space left on device" in full.stderr, full.stderr
    (path,) = kept.rglob("*.jsonl")
    assert read_session(str(path)).damage.malformed == 0


@pytest.fixture
def hung(tmp_path: Path) -> tuple[str, ...]:
    """A command line that starts what follows beside a mount whose server has stopped to answer."""
    mount = tmp_path / "server"
    mount.mkdir()
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("no FUSE here")
    (tmp_path / "hung").touch()
    served = (sys.executable, hung_mount.__file__, str(mount), str(tmp_path / "hung"))
    return ("unshare", "-rm", "--propagation=private", *served)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("detect",), 0, ""),
        (_NULL, 0, "Session saved"),
        (("run", "-q", "--plan", "quick", "--mount", "{server}"), 3, "did not answer within 5 s; check its server"),
        pytest.param(
            (*RUN, "io.direct.path={server}"), 1, "did not return within 60 s", marks=pytest.mark.long
        ),
    ],
)  # fmt: skip
def test_a_hung_server(
    run: Run, hung: tuple[str, ...], state: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    done = run(*(one.format(server=tmp_path / "server") for one in arguments), within=hung)

    kept = [outcome.reason for path in state.rglob("*.jsonl") for outcome in read_session(str(path)).outcomes.values()]
    told = "\n".join((done.stdout, done.stderr, *kept))  # a long path leaves no room for the reason on the screen
    assert (done.returncode, said in told) == (status, True), told


def test_a_console_beside_a_hung_server(hung: tuple[str, ...], state: Path, tmp_path: Path) -> None:
    command = [*hung, sys.executable, "-m", "sizeup"]
    environment = {"XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state)}
    with Terminal(command, environment=environment, directory=tmp_path, columns=160) as terminal:
        terminal.wait_for("Detected")
        terminal.press("m")
        terminal.wait_for("Another directory")
        terminal.press("G", "enter")
        terminal.wait_for("Directory that will hold")
        terminal.press(str(tmp_path / "server"), "enter")
        terminal.wait_for("did not answer within 5 s")
        terminal.wait_quiet()
        terminal.press("escape")
        terminal.wait_quiet()
        terminal.press("q")
        assert terminal.wait() == 0
        assert terminal.attributes_now == terminal.attributes
        assert 1049 not in terminal.modes
