"""One line for each host while it is measured: updated on a terminal, printed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text


class HostLines:
    """Shows what each host is doing."""

    def __init__(self, targets: Sequence[str], stream: TextIO, *, quiet: bool) -> None:
        self._texts = dict.fromkeys(targets, "")
        self._stream = stream
        self._quiet = quiet
        self._live = None
        if stream.isatty() and not quiet:
            self._live = Live(console=Console(file=stream), get_renderable=self._table, refresh_per_second=4)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, target: str, text: str) -> None:
        """Show what a host is doing now."""
        self._texts[target] = text
        if self._live is None and not self._quiet:
            print(f"{target}: {text}", file=self._stream, flush=True)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for target, text in self._texts.items():
            table.add_row(Text(target, no_wrap=True), Text(text, no_wrap=True, overflow="ellipsis"))
        return table
