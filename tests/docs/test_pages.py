"""The pages of docs/: each is of one kind, stands in the navigation, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
KINDS = {"tutorial", "how-to", "reference", "explanation"}
USER_PAGES = [page for page in PAGES if page.parent.name not in ("results", "decisions")]
"""What a user reads: these are installed, and in the navigation."""

MOST_WORDS, MOST_IN_A_PARAGRAPH, MOST_IN_A_CELL = 25_000, 90, 40


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as mkdocs and source viewers write them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    plain = (
        re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    )
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def test_every_page_is_of_one_kind() -> None:
    assert {page.relative_to(DOCS).parts[0] for page in PAGES} <= {"index.md", "results", *KINDS}
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert text.startswith("# "), page


def words(text: str) -> int:
    """Count the words: whatever stands between blanks and has a letter or a digit, code included."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def test_the_pages_that_users_read_are_short() -> None:
    counts = {page.relative_to(DOCS).as_posix(): words(page.read_text(encoding="utf-8")) for page in USER_PAGES}
    longest = sorted(counts, key=counts.__getitem__)[-5:]

    assert sum(counts.values()) <= MOST_WORDS, [(name, counts[name]) for name in longest]


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.stem)
def test_no_paragraph_and_no_cell_is_long(page: Path) -> None:
    prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    cells = [cell for line in prose.splitlines() if line.startswith("|") for cell in re.split(r"(?<!\\)\|", line)]
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )|\n(?=\|)|^#.*\n", prose, flags=re.MULTILINE)

    assert [cell for cell in cells if words(cell) > MOST_IN_A_CELL] == []
    assert [block for block in blocks if words(block) > MOST_IN_A_PARAGRAPH and not block.startswith("|")] == []


@pytest.mark.ci
def test_the_navigation_and_the_pages_agree() -> None:
    configuration = ROOT / ".ci/mkdocs.yml"
    if not configuration.exists():
        pytest.skip("a source distribution has no .ci")
    nav = configuration.read_text(encoding="utf-8").partition("\nnav:\n")[2]

    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", nav, re.MULTILINE)

    assert sorted(listed) == [page.relative_to(DOCS).as_posix() for page in USER_PAGES]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_to_a_page_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if not re.match(r"https?:", link):
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link
