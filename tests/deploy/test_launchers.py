"""One line starts all hosts through pdsh, ClusterShell or MPI; here without a connection, on this machine."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sizeup.child_process import sizeup_command

LAUNCHERS = {
    "pdsh": ["pdsh", "-S", "-R", "exec", "-w", "n1,n2", "{sizeup}", "{options}", "-o", "{folder}/%h.sizeup.jsonl"],
    "clush": [
        "clush", "-S", "-R", "exec", "-w", "n1,n2", "{sizeup}", "{options}", "-o", "{folder}/%host.sizeup.jsonl"
    ],
    "mpirun": [
        "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "sh", "-c",
        '"$0" "$@" -o {folder}/n$((OMPI_COMM_WORLD_RANK + 1)).sizeup.jsonl', "{sizeup}", "{options}",
    ],
}  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher_starts_two_runs_at_the_same_moment(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    folder = tmp_path / "sessions"
    folder.mkdir()
    wrapper = tmp_path / "sizeup"
    wrapper.write_text(
        f"#!{sys.executable}\nimport os, sys\ncommand = {sizeup_command()!r}\n"
        "os.execv(command[0], [*command, *sys.argv[1:]])\n"
    )
    wrapper.chmod(0o755)
    for lead in (20, 90):  # a busy machine takes long to start two Pythons
        options = ["--batch", "-q", "-p", "null", "--start-at", f"{time.time() + lead:.0f}"]
        command = []
        for part in LAUNCHERS[name]:
            command += options if part == "{options}" else [part.format(sizeup=wrapper, folder=folder)]
        done = subprocess.run(
            command,
            env={**os.environ, "HOME": str(tmp_path), "OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            break
        for path in folder.iterdir():
            path.unlink()

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["n1.sizeup.jsonl", "n2.sizeup.jsonl"]
    for path in folder.iterdir():
        records = [json.loads(line) for line in path.read_text().splitlines()]
        assert records[-1]["status"] == "complete"
