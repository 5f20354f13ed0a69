"""Print a page of the documentation, or list the pages. They are installed with sizeup; no network is needed.

sizeup help                  list the pages
sizeup help findings         print one
sizeup help sizing | less    read it page by page
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap

from sizeup.errors import ExitStatus
from sizeup.terminal.capabilities import is_utf8
from sizeup.text import plain

_COLUMNS = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("page", nargs="?", metavar="PAGE", help="print this page (default: list the pages)")


def run(arguments: argparse.Namespace) -> int:
    """List the pages, or print one."""
    from sizeup.cli.pages import find_page

    if arguments.page is None:
        text = _list()
    else:
        page = find_page(arguments.page)
        text = page.file.read_text(encoding="utf-8")
        if sys.stdout.isatty():
            from sizeup.cli.page_text import print_page
            from sizeup.cli.pages import linked_pages

            print_page(text, linked_pages(page, text), sys.stdout)
            return ExitStatus.OK
    sys.stdout.write(text if is_utf8(os.environ) else plain(text))
    return ExitStatus.OK


def _list() -> str:
    from sizeup.cli.pages import KINDS, installed_pages

    pages = installed_pages()
    width = max(len(page.name) for page in pages) + 2
    lines = ["Pages of the documentation; print one with: sizeup help PAGE"]
    for kind in KINDS:
        listed = [page for page in pages if page.kind == kind]
        lines += ["", kind.capitalize()] if listed else []
        for page in listed:
            title = textwrap.shorten(page.title.replace("`", ""), _COLUMNS - width - 2, placeholder=" ...")
            lines.append(f"  {page.name:<{width}}{title}")
    return "\n".join(lines) + "\n"
