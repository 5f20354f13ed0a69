"""The pages of the documentation that are installed with the program."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.text import nearest

KINDS = ("tutorial", "how-to", "reference", "explanation")
"""The directories of the pages, in the order of the list."""

_UNLISTED = frozenset({"index", "README"})


class InstalledPage(Struct, frozen=True):
    """One page."""

    name: str
    """What ``sizeup help`` calls it: its file name, after its directory where a page before it in the list has that."""
    kind: str
    file: Path

    @property
    def title(self) -> str:
        """The heading of the page."""
        with self.file.open(encoding="utf-8") as text:
            return next((line[2:].strip() for line in text if line.startswith("# ")), self.name)


def directory() -> Path:
    """Return where the pages are: in the package, or in the checkout of an editable install."""
    package = Path(__file__).parents[1]
    packaged = package / "docs"
    return packaged if packaged.is_dir() else package.parents[1] / "docs"


def installed_pages() -> list[InstalledPage]:
    """Return the pages by kind and name."""
    root = directory()
    files = [(kind, file) for kind in KINDS for file in sorted((root / kind).rglob("*.md"))]
    files = [(kind, file) for kind, file in files if file.stem not in _UNLISTED and file.parent.name != "decisions"]
    if not files:
        raise UsageError(f"{root}: no page of the documentation is installed here; install this program again")
    pages: dict[str, InstalledPage] = {}
    for kind, file in files:
        name = file.stem if file.stem not in pages else f"{file.parent.name}/{file.stem}"
        pages[name] = InstalledPage(name, kind, file)
    return list(pages.values())


def find_page(name: str) -> InstalledPage:
    """Return the page of this name; raise ``UsageError`` with the nearest names if there is none."""
    pages = installed_pages()
    wanted = name.lower().removesuffix(".md").strip("/").replace(".", "-")
    for page in pages:
        if wanted == page.name or ("/" in wanted and page.file.with_suffix("").as_posix().endswith(f"/{wanted}")):
            return page
    part = [page.name for page in pages if len(wanted) > 2 and wanted in page.name]
    close = f" (did you mean {' or '.join(part[:3])}?)" if part else nearest(wanted, [page.name for page in pages])
    raise UsageError(f"help: there is no page {name!r}{close}; list the pages with: sizeup help")


def linked_pages(page: InstalledPage, text: str) -> list[str]:
    """Return the names of the other pages that a page links to, in its order."""
    by_file = {other.file.resolve(): other.name for other in installed_pages()}
    targets = re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", text)
    names = (by_file.get((page.file.parent / target).resolve(), "") for target in targets)
    return [name for name in dict.fromkeys(names) if name not in ("", page.name)]
