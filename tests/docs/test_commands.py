"""Every command of the documentation runs, in the order of its page, and prints what the page shows."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from docs.shell_blocks import PAGES, ROOT, Block, as_read, blocks, lines, placed, sandbox

WITH = [page for page in PAGES if any(not block.run_by and not block.by_hand for block in blocks(page))]
_FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("SIZEUP_UPDATE_DOCS") == "1"


@pytest.mark.ci
@pytest.mark.parametrize("page", WITH, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    environment = sandbox(tmp_path)
    work = tmp_path / "work"
    for name, content in _FILE.findall(page.read_text(encoding="utf-8")):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content)
    for block in blocks(page):
        if not block.run_by and not block.by_hand:
            _run(page, block, environment, tmp_path)


def _run(page: Path, block: Block, environment: dict[str, str], folder: Path) -> None:
    for command, output in zip(block.commands, block.outputs, strict=True):
        for written in re.findall(r"--batch .*-o (\S+)", command):  # another page opens it; a run replaces no session
            (folder / "work" / written).unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", "-ec", placed(command, folder)],
            cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if UPDATE and block.shows:
            text = page.read_text(encoding="utf-8")
            page.write_text(
                text.replace(f"$ {command}{output}```", f"$ {command}{as_read(done.stdout, folder)}```"), "utf-8"
            )
        elif block.compared:
            assert done.stdout == output, command


def test_what_a_page_leaves_to_another_file_is_run_there() -> None:
    for page in PAGES:
        for block in blocks(page):
            assert not block.run_by or (ROOT / block.run_by).exists(), (page, block)


def test_the_documentation_has_commands_and_the_suite_runs_nearly_all() -> None:
    """A mistake in the search for blocks must not leave the tests above without any."""
    every = [block for page in PAGES for block in blocks(page)]

    assert sum(map(lines, every)) > 70
    assert sum(lines(block) for block in every if block.by_hand) <= 12
