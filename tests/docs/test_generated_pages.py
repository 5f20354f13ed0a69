"""The reference says what the code says. After a change: SIZEUP_UPDATE_DOCS=1 pytest tests/docs -m "ci or not ci"."""

import os
import re
from pathlib import Path

import pytest

from docs.generated_pages import commands_page, exit_statuses_table, workload_keys_table
from faults.scenes import table as faults_table
from sizeup.decoding import toml_tables

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference"
UPDATE = os.environ.get("SIZEUP_UPDATE_DOCS") == "1"


def check(page: Path, expected: str) -> None:
    """Compare a page with what the code says, or write it."""
    if UPDATE:
        page.write_text(expected, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == expected


@pytest.mark.ci
def test_the_page_of_commands_lists_every_command_and_option_with_its_help() -> None:
    check(REFERENCE / "commands.md", commands_page() + "\n")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("reference/exit-statuses", exit_statuses_table()),
        ("results/faults", faults_table()),
        ("reference/workload-keys", workload_keys_table()),
    ],
)
def test_the_table_of_a_page_is_that_of_the_code(name: str, table: str) -> None:
    page = ROOT / f"docs/{name}.md"
    before, _, after = re.split(
        r"(^\|.*\n(?:\|.*\n)+)", page.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE
    )

    check(page, f"{before}{table}\n{after}")


def severities() -> dict[str, set[str]]:
    """Return the ids of the findings in the code, with the severities that each can have."""
    catalog = (ROOT / "console/sizeup/discovery/findings/catalog.toml").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for case, words in toml_tables(catalog).items():
        found.setdefault(case.partition("/")[0], set()).add(words["severity"].upper())
    return found


def test_every_finding_has_a_heading_with_its_severities() -> None:
    page = (REFERENCE / "findings.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^### (\S+)\n((?:.+\n)+)", page, re.MULTILINE))

    assert set(listed) == set(severities())
    for identifier, words in severities().items():
        named = {
            word.upper() for word in re.findall(r"\b(?:critical|warning|info)\b", listed[identifier], re.IGNORECASE)
        }
        assert named == words, identifier


def test_every_command_and_option_inside_a_sentence_exists() -> None:
    """``sizeup COMMAND --option`` inside a sentence names a command and an option that exist."""
    from sizeup.cli import split_path

    known = set(re.findall(r"`[^`]*?(--[a-z-]+)", commands_page())) | {"--help", "--version", "--no-mouse"}
    known |= {
        option
        for options in re.findall(r"`(--?[\w, -]+?)(?: [^`]*)?`", commands_page())
        for option in options.split(", ")
    }
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for span in re.findall(r"`sizeup ([^`]*)`", text):
            words = span.split()
            assert words[0].startswith("-") or words[0].isupper() or words[0] == "latest" or split_path(words)[0], (
                page,
                span,
            )
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, (page, span)
