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

MOST_WORDS = 26_800


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
