"""Print a page of the documentation, or list the pages. They are installed with sizeup; no network is needed.

sizeup help                  list the pages
sizeup help findings         print one
sizeup help sizing | less    read it page by page
sizeup help man > sizeup.1   the manual page
sizeup help schema           the JSON Schema of one line of a session file, for tools that write or check such files
sizeup help completion bash > ~/.local/share/bash-completion/completions/sizeup
sizeup help completion zsh > DIR/_sizeup, where DIR is a directory of $fpath
sizeup help completion fish > ~/.config/fish/completions/sizeup.fish
"""

from __future__ import annotations

import argparse
import sys
import textwrap

from sizeup.cli.arguments import arg
from sizeup.cli.results import write_text
from sizeup.errors import ExitStatus, UsageError

_COLUMNS = 80
ARGUMENTS = (
    arg(
        "page", nargs="?", metavar="PAGE",
        help="print this page, or man, schema or completion (default: list the pages)",
    ),
    arg("shell", nargs="?", choices=("bash", "zsh", "fish"), help="with completion: shell to print it for"),
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """List the pages, or print what is asked for."""
    wanted, shell = arguments.page, arguments.shell
    if (wanted == "completion") != (shell is not None):
        raise UsageError("help: completion and a shell belong together, such as: sizeup help completion bash")
    if wanted is None:
        write_text(_list())
    elif wanted == "man":
        from datetime import UTC, datetime

        from sizeup import __version__
        from sizeup.cli.manual import page

        print("\n".join(page(__version__, datetime.now(UTC).strftime("%Y-%m-%d"))))
    elif wanted == "schema":
        from sizeup.session.records import schema_text

        sys.stdout.write(schema_text())
    elif wanted == "completion":
        from sizeup.cli.completion import completion

        print(completion(shell))
    else:
        _print_page(wanted)
    return ExitStatus.OK


def _print_page(name: str) -> None:
    from sizeup.cli.pages import find_page, linked_pages

    page = find_page(name)
    text = page.file.read_text(encoding="utf-8")
    if not sys.stdout.isatty():
        write_text(text)
        return
    from sizeup.cli.page_text import print_page

    print_page(text, linked_pages(page, text), sys.stdout)


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
