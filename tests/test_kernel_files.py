"""Only ``procfs``, ``discovery`` and the native part open files of ``/proc`` and ``/sys``.

Two halves, because neither sees everything. The first reads the source: no string of another module names such a file.
The second watches a machine being detected and probes being run, and asks of each open whose code it was.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiers import one_in

ROOT = Path(__file__).parent.parent
HOOK = Path(__file__).with_name("kernel_file_hook.py")

OPENERS = ("sizeup.procfs.", "sizeup.discovery.")

NAMED = {
    "sizeup.files": {"/proc/self": "asked for its device number, to know links that only the kernel follows"},
    "sizeup.masking": dict.fromkeys(("/proc/", "/sys/"), "beginnings of paths that are public, and not masked"),
    "sizeup.sizing": dict.fromkeys(
        ("/proc/cpuinfo", "/proc/meminfo", "/sys/block", "/sys/class/net", "/sys/devices/system/node"),
        "shown as the source of a figure",
    ),
    "sizeup_net.peer": {"/proc/stat": "read on another host, where sizeup is not"},
}
"""What may be named in other packages, and why: none of it is opened there."""

PATH = re.compile(r"/(proc|sys)(/|$)")


def kernel_paths(source: str) -> Iterator[str]:
    """The strings of a module that name a kernel file: those that begin with ``/proc`` or ``/sys``, and have no blank.

    A string with a blank is a sentence, or a command for the user. Docstrings are statements of their own and not
    looked at. Each constant part of an f-string counts by itself.
    """
    if "/proc" not in source and "/sys" not in source:
        return
    tree = ast.parse(source)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in statements:
            text = node.value if isinstance(node.value, str) else os.fsdecode(node.value)
            if PATH.match(text) and not re.search(r"\s", text):
                yield text


def test_no_other_module_names_a_kernel_file() -> None:
    named: dict[str, set[str]] = {}
    for folder in ("console", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT / folder).with_suffix("").parts)
            if not module.startswith(OPENERS) and (found := set(kernel_paths(path.read_text(encoding="utf-8")))):
                named.setdefault(".".join(module.split(".")[:2]), set()).update(found)

    assert named == {package: set(literals) for package, literals in NAMED.items()}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('open("/proc/stat")', ["/proc/stat"]),
        ('def read(proc="/proc"): ...', ["/proc"]),
        ('os.listdir(f"/sys/block/{name}/slaves")', ["/sys/block/"]),
        ('os.open(b"/proc/self/fd/1", 0)', ["/proc/self/fd/1"]),
        ('PATHS = ("/system", "/process/x", "proc/stat")', []),
        ('"""/proc/stat is read elsewhere."""\nclass A:\n    a: int\n    """/sys/class"""', []),
        ('remedy = "/proc/self/mountinfo cannot be read"', []),
        ('command = f"echo {count} > /sys/kernel/mm/hugepages/x"', []),
    ],
)
def test_a_string_that_names_a_kernel_file_is_found(source: str, found: list[str]) -> None:
    assert list(kernel_paths(source)) == found


def openers(log: Path, code: str, folder: Path) -> dict[str, set[str]]:
    """Run code in a process with the hook; the paths that each module opened, in it and in the processes it started."""
    start = f"LOG, HOOK = {str(log)!r}, {str(HOOK)!r}; exec(open(HOOK, encoding='utf-8').read()); {code}"
    done = subprocess.run([sys.executable, "-c", start], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stdout + done.stderr  # 3: a figure did not converge, on a busy host
    found: dict[str, set[str]] = {}
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        module, _, path = line.partition(" ")
        found.setdefault(module, set()).add(path)
    return found


def strangers(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Those of the modules that may open nothing."""
    return {module: paths for module, paths in found.items() if not module.startswith(OPENERS)}


def command(*arguments: str) -> str:
    return f"sys.argv = {['sizeup', *arguments]!r}; from sizeup.__main__ import main; sys.exit(main())"


def test_detecting_a_machine_opens_kernel_files_in_discovery_alone(tmp_path: Path) -> None:
    found = openers(tmp_path / "log", command("detect", "--json"), tmp_path)

    assert "/proc/cpuinfo" in found["sizeup.procfs.kernel_file"]
    assert strangers(found) == {}


@pytest.mark.ci
def test_a_run_and_its_probes_open_kernel_files_through_procfs_alone(tmp_path: Path) -> None:
    options = {
        "io.direct": (f"path={tmp_path}", "preset=custom", "read_percent=50", "size=16M", "reserve=1M", "seconds=0.5",
                      "warmup=0.2", "ramps=1", "check_concurrency=no"),
        "clock.cost": ("seconds_per_method=1ms",),
    }  # fmt: skip
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT))
    except OSError:
        del options["io.direct"]
    run = [word for probe in options for word in ("-p", probe)]
    run += [word for probe, each in options.items() for option in each for word in ("--set", f"{probe}.{option}")]

    found = openers(tmp_path / "log", command("--batch", "-q", "-o", "run", *run), tmp_path)

    assert "/proc/self/oom_score_adj" in found["sizeup.procfs.process"], "the worker is watched"
    assert "/proc/stat" in found["sizeup.procfs.kernel_file"]
    assert ("/proc/self/io" in found["sizeup.procfs.kernel_file"]) is ("io.direct" in options)
    assert strangers(found) == {}


@pytest.mark.parametrize(
    ("code", "found"),
    one_in(
        3,
        [
            ("open('/proc/self/stat').close()", {"sizeup_stray": {"/proc/self/stat"}}),
            ("pathlib.Path('/proc/self/stat').read_text()", {"sizeup_stray": {"/proc/self/stat"}}),
            ("os.close(os.open(b'/proc/self/stat', 0))", {"sizeup_stray": {"/proc/self/stat"}}),
            ("os.listdir('/proc/self/task')", {"sizeup_stray": {"/proc/self/task"}}),
            ("list(os.scandir('/proc/self/task'))", {"sizeup_stray": {"/proc/self/task"}}),
            ("psutil.virtual_memory()", {}),
            ("open('/dev/null').close()", {}),
        ],
    ),
)
def test_a_module_that_opens_a_kernel_file_itself_is_found(
    code: str, found: dict[str, set[str]], tmp_path: Path
) -> None:
    (tmp_path / "sizeup_stray.py").write_text(f"import os, pathlib, psutil\ndef look():\n    {code}\n")

    assert strangers(openers(tmp_path / "log", "import sizeup_stray; sizeup_stray.look()", tmp_path)) == found
