"""A runner that is played by hand."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from sizeup.live.cost import ConsoleCost, parse_cost
from sizeup.session.records import Record
from sizeup.session.writer import Writer


class _Words(io.BytesIO):
    """A pipe whose words can be read after it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.costs: list[ConsoleCost] = []
        """What the console said of itself, which it says with each frame."""

    def write(self, data: Any) -> int:
        for line in bytes(data).split(b"\n")[:-1]:
            cost = parse_cost(line)
            if cost is None:
                self.words.append(line.decode())
            else:
                self.costs.append(cost)
        return len(data)


class PlayedRunner:
    """Stands for the runner's process; the test writes its session file and decides when it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arguments: list[list[str]] = []
        self.stdin = _Words()
        self.returncode: int | None = None
        self._errors: IO[bytes] | None = None

    def launch(self, arguments: Sequence[str], errors: IO[bytes]) -> Any:
        """Take the place of ``runs.launch``."""
        self.arguments.append(list(arguments))
        self.stdin, self.returncode, self._errors = _Words(), None, errors
        return self

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        return self.returncode

    def write(self, lines: Sequence[Record]) -> None:
        """Append to the session file."""
        with Writer.append(str(self.path)) if self.path.exists() else Writer.create(str(self.path)) as writer:
            writer.write(*lines)

    def end(self, status: int = 0, words: str = "") -> None:
        """End as a process would."""
        if self._errors is not None:
            self._errors.write(words.encode())
        self.returncode = status
