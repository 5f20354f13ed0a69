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
import importlib.util
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sizeup import __version__
from sizeup.cli import COMMANDS, GROUPS
from sizeup.cli.arguments import arg
from sizeup.cli.parser import build_parser
from sizeup.cli.results import write_text
from sizeup.errors import ExitStatus, UsageError
from sizeup.text import nearest

_COLUMNS = 80
_FILES = frozenset({"BASELINE", "FILE", "MACHINE", "NEW", "OTHER", "OUT"})
"""What the help calls values that are paths."""
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
        pages = installed_pages()
        width = max(len(page.name) for page in pages) + 2
        lines = ["Pages of the documentation; print one with: sizeup help PAGE"]
        for kind in KINDS:
            listed = [page for page in pages if page.kind == kind]
            lines += ["", kind.capitalize()] if listed else []
            for page in listed:
                title = textwrap.shorten(page.title.replace("`", ""), _COLUMNS - width - 2, placeholder=" ...")
                lines.append(f"  {page.name:<{width}}{title}")
        write_text("\n".join(lines) + "\n")
    elif wanted == "man":
        from datetime import UTC, datetime

        print("\n".join(_manual(__version__, datetime.now(UTC).strftime("%Y-%m-%d"))))
    elif wanted == "schema":
        from sizeup.session.records import schema_text

        sys.stdout.write(schema_text())
    elif wanted == "completion":
        print(_completion(shell))
    else:
        page = find_page(wanted)
        text = page.file.read_text(encoding="utf-8")
        if not sys.stdout.isatty():
            write_text(text)
            return ExitStatus.OK
        from sizeup.cli.page_text import print_page

        print_page(text, linked_pages(page, text), sys.stdout)
    return ExitStatus.OK


def _manual(version: str, date: str) -> Iterator[str]:
    """The page in the language of man(7)."""
    yield f'.TH SIZEUP 1 "{date}" "sizeup {version}" "User Commands"'
    yield ".SH NAME"
    yield r"sizeup \- judge a Linux server before a database goes on it"
    yield ".SH SYNOPSIS"
    yield from _verbatim("sizeup [OPTION]...\nsizeup COMMAND [OPTION]...")
    yield ".SH OPTIONS"
    yield from _verbatim(build_parser().format_help())
    yield ".SH COMMANDS"
    for name in COMMANDS:
        yield f'.SS "sizeup {name}"'
        yield from _verbatim(build_parser(name).format_help())
    yield ".SH EXIT STATUS"
    yield from _verbatim("\n".join(f"{status.value:<5}{status.meaning}" for status in ExitStatus))


def _verbatim(text: str) -> Iterator[str]:
    """Lines as they are: no filling, and nothing in them a request."""
    yield ".nf"
    for line in text.rstrip().splitlines():
        escaped = line.replace("\\", r"\e").replace("-", r"\-")
        yield rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
    yield ".fi"


def _completion(shell: str) -> str:
    """Return the script for a shell; it has all commands as one parser."""
    if importlib.util.find_spec("shtab") is None:
        raise UsageError(
            "completion needs shtab, which is not installed; install it with: pip install 'sizeup[completion]'"
        )
    import shtab

    parser = argparse.ArgumentParser(prog="sizeup", parents=[build_parser()], add_help=False)
    top = parser.add_subparsers(metavar="COMMAND")
    groups: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
    for path, (_, summary) in COMMANDS.items():
        first, _, second = path.partition(" ")
        if not second:
            sub = top.add_parser(first, help=summary, parents=[build_parser(path)], add_help=False)
        else:
            if first not in groups:
                group = top.choices.get(first) or top.add_parser(first, help=GROUPS[first])
                groups[first] = group.add_subparsers(metavar="COMMAND")
            sub = groups[first].add_parser(second, help=summary, parents=[build_parser(path)], add_help=False)
        sub.prog = f"sizeup {path}"
    _mark_paths(parser)
    return str(shtab.complete(parser, shell))


def _mark_paths(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which values are paths, by the names the help gives them."""
    import shtab

    for action in parser._actions:  # noqa: SLF001  argparse offers no other way to its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for sub in action.choices.values():
                _mark_paths(sub)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # the attribute that shtab looks for
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


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
    """Return the page of this name, or the only one with this word in its title, else in its headings.

    Raise ``UsageError`` with such pages, or those of the nearest names, where it is not one.
    """
    pages = installed_pages()
    wanted = name.lower().removesuffix(".md").strip("/").replace(".", "-")
    for page in pages:
        if wanted == page.name or ("/" in wanted and page.file.with_suffix("").as_posix().endswith(f"/{wanted}")):
            return page
    about: list[InstalledPage] = []
    for level in ("#", "#+"):
        heading = re.compile(rf"^{level} .*(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE | re.MULTILINE)
        about = about or [page for page in pages if name and heading.search(page.file.read_text(encoding="utf-8"))]
    if len(about) == 1:
        return about[0]
    part = about or [page for page in pages if len(wanted) > 2 and wanted in page.name]
    close = nearest(wanted, [page.name for page in pages])
    close = f" (did you mean {' or '.join(page.name for page in part[:6])}?)" if part else close
    raise UsageError(f"help: there is no page {name!r}{close}; list the pages with: sizeup help")


def linked_pages(page: InstalledPage, text: str) -> list[str]:
    """Return the names of the other pages that a page links to, in its order."""
    by_file = {other.file.resolve(): other.name for other in installed_pages()}
    targets = re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", text)
    names = (by_file.get((page.file.parent / target).resolve(), "") for target in targets)
    return [name for name in dict.fromkeys(names) if name not in ("", page.name)]
