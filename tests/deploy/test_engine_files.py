"""The files for engines: written completely, and what they run does what they say."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sizeup.child_process import environment, sizeup_command
from sizeup.cli import run
from sizeup.deploy import ENGINES, engine_files

SRUN = """#!/bin/bash
# A stand-in: runs the command once for each node.
while [ "${1#-}" != "$1" ]; do shift; done
worst=0
for node in n1 n2 n3; do
    SLURMD_NODENAME=$node "$@"
    status=$?
    [ $status -gt $worst ] && worst=$status
done
exit $worst
"""
SIZEUP = """#!/bin/sh
echo "$SLURMD_NODENAME $(printf "%s|" "$@")" >> "$TRACE"
case "$1 $SLURMD_NODENAME" in
    "--batch n2") exit 4 ;;
    "--batch n3") exit 1 ;;
esac
"""


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_all_files_of_an_engine_are_written(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "some folder"

    assert run(["deploy", engine, str(folder)]) == 0

    printed = capsys.readouterr().out
    for name, content in engine_files(engine).items():
        assert (folder / name).read_bytes() == content
        assert str(folder / name) in printed
    assert f"'{folder}'/" in printed.splitlines()[-1]


@pytest.mark.parametrize("there", [True, pytest.param(False, marks=pytest.mark.ci)])
@pytest.mark.parametrize(
    "command", [("deploy", "ansible", "{}"), ("probes", "--template", "python", "{}", "acme.rate")]
)
def test_nothing_stays_where_the_paths_cannot_be_printed(command: tuple[str, ...], there: bool, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    if there:
        folder.mkdir()

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            sizeup_command(*(part.format(folder) for part in command)),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 2
    assert b"standard output: cannot write" in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == (["files"] if there else [])


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("kept")

    assert run(["deploy", "slurm", str(tmp_path)]) == 2

    assert "choose another one" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the script of Slurm is one for bash")
def test_the_script_of_slurm_starts_all_nodes_at_once_and_reports_each(tmp_path: Path) -> None:
    script, trace = tmp_path / "sizeup.sbatch", tmp_path / "trace"
    script.write_bytes(engine_files("slurm")["sizeup.sbatch"])
    program(tmp_path / "srun", SRUN)
    began = time.time()
    done = subprocess.run(
        ["bash", str(script)],
        env={
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "SIZEUP": str(program(tmp_path / "sizeup program", SIZEUP)),
            "SIZEUP_OPTIONS": "--plan full --mount '/data/my files' --set a.b=/?*",
            "SLURM_SUBMIT_DIR": str(tmp_path),
            "SLURM_JOB_NUM_NODES": "100",
            "SLURM_JOB_ID": "7",
            "TRACE": str(trace),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines()[:3] == [
        "n1: measured",
        "n2: late, nothing was measured",
        "n3: failed, exit status 1",
    ]
    assert done.returncode == 4
    first, *runs, fleet = trace.read_text().splitlines()
    assert first.split() == ["--version|"]
    starts = {line.split("--start-at|")[1].split("|")[0] for line in runs}
    assert len(starts) == 1
    assert began + 21 <= int(starts.pop()) <= time.time() + 23
    assert [line.split("-o|")[1] for line in runs] == [f"{tmp_path}/sessions/n{n}-7.sizeup.jsonl|" for n in (1, 2, 3)]
    assert all("--quiet|--plan|full|--mount|/data/my files|--set|a.b=/?*|--start-at|" in line for line in runs)
    assert fleet.split()[0].startswith("fleet|")


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("kubernetes-validate") is None, reason="kubernetes-validate is not installed")
def test_the_manifest_is_valid(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_bytes(engine_files("kubernetes")["job.yaml"])

    done = subprocess.run(
        ["kubernetes-validate", "--strict", str(tmp_path / "job.yaml")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def measure_tasks() -> dict[str, str]:
    """The files of tasks of the role, by their names."""
    folder = "collections/ansible_collections/sizeup/fleet/roles/measure/tasks"
    return {
        Path(name).stem: content.decode()
        for name, content in engine_files("ansible").items()
        if name.startswith(folder)
    }


def test_ansible_takes_the_directory_and_the_interpreter_that_it_found() -> None:
    """Hosts that share a home do not share a directory, and an error is shown in the words of the program."""
    tasks = measure_tasks()

    assert "}}/{{ inventory_hostname }}" in tasks["folder"]
    assert "{{ sizeup_python }}" not in "".join(tasks.values())
    assert "ansible_failed_result.stderr_lines" in tasks["main"]


def test_ansible_removes_no_directory_that_has_files_of_others() -> None:
    """The directory is removed with all that is in it, so one with more than the role puts there is refused before."""
    folder = measure_tasks()["folder"]

    refusal = folder.index("- name: Stop here with files of others")

    assert 'excludes: ["sessions", "sizeup", "runtime", "wheels.zip", "site-*"]' in folder[:refusal]
    assert "sizeup_strangers.matched > 0" in folder[refusal:]
    assert refusal < folder.index("- name: Make a private directory")


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("ansible-playbook") is None, reason="ansible is not installed")
@pytest.mark.parametrize("machine", ["", "riscv64"])
def test_ansible_copies_the_executable_for_the_machine_and_brings_the_session(machine: str, tmp_path: Path) -> None:
    for name, content in engine_files("ansible").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = machine or os.uname().machine
    program(tmp_path / f"sizeup-{os.uname().machine}", '#!/bin/sh\necho "$SIZEUP_RUNTIME $*" > "$3"\n')
    program(tmp_path / "uname", f'#!/bin/sh\n[ "$*" = -m ] && exec echo {found}\nexec /bin/uname "$@"\n')
    home = tmp_path / "home of sizeup"

    done = subprocess.run(
        ["ansible-playbook", "-i", "db01,", "-c", "local", "playbook.yml", "-e", "sizeup_run=one",
         "-e", f"sizeup_home='{home}' ansible_python_interpreter={sys.executable} ansible_async_dir={tmp_path}/async"],
        cwd=tmp_path, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    if machine:
        assert "db01: refused: " in done.stdout
        assert "sizeup-riscv64 is needed for this host and does not exist" in done.stdout
        assert not home.exists()
    else:
        assert "db01: measured" in done.stdout, done.stdout
        written = (tmp_path / "sessions/db01-one.sizeup.jsonl").read_text()
        session = f"{home}/db01/sessions/one.sizeup.jsonl"
        assert written == f"{home}/db01/runtime --batch -o {session} --plan quick\n"


def test_the_image_takes_the_executable_and_unpacks_it_for_any_user() -> None:
    """What is unpacked at the build is neither unpacked again at a start nor closed to others."""
    lines = engine_files("container")["Containerfile"].decode().splitlines()

    [copied] = [line for line in lines if line.startswith("COPY")]
    assert copied == "COPY --chmod=0755 sizeup-$MACHINE /usr/local/bin/sizeup"
    [runtime] = [line.split()[1] for line in lines if line.startswith("ENV SIZEUP_RUNTIME=")]
    assert f"RUN sizeup --version && chmod -R go+rX {runtime.partition('=')[2]}" in lines
