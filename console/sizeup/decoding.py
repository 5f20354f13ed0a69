"""Decoders of typed values, safe to make in several threads, and the one reader of TOML.

msgspec works out a type when it is first used. Two threads that do so at once crash the process (msgspec 0.22): one
uses what the other has half made.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from sizeup.errors import MalformedError

_LOCK = threading.Lock()
_TOO_LARGE = "found a whole number beyond 64 bits"


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder of JSON for a type; to be made once, as working out all types of a session takes 7 ms."""
    with _LOCK:
        return msgspec.json.Decoder(kind)


def convert(value: object, kind: Any) -> Any:
    """Return a decoded value as a type; raises ``msgspec.ValidationError``."""
    with _LOCK:
        return msgspec.convert(value, kind)


class TomlError(MalformedError):
    """A text is no TOML, or of a value that no program can use; ``line`` is 0 where it is not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def toml_tables(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text, in which every integer has at most 64 bits; raises ``TomlError``."""
    import tomli  # for a command that reads none

    try:
        tables = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        cut = f"cut or incomplete TOML at line {error.lineno}; write it again"
        raise TomlError(cut if error.pos >= len(text) else str(error), error.lineno) from error
    except RecursionError as error:
        raise TomlError("nested too deeply") from error
    except ValueError as error:  # Python converts at most 4,300 digits
        raise TomlError(_TOO_LARGE) from error
    found: list[tuple[str, Any]] = [("", tables)]
    for name, value in found:
        if isinstance(value, dict):
            found += [(f"{name}.{key}".removeprefix("."), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            found += [(name, inner) for inner in value]
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise TomlError(f"{name}: {_TOO_LARGE}")
    return tables


def read_beside(module: str, name: str, kind: Any = dict[str, Any]) -> Any:
    """Return the TOML file of that name beside a module, by its ``__file__``, as a type."""
    # By path: importlib.resources takes longer to import than the file to read.
    return parse_toml(Path(module).with_name(name).read_text(encoding="utf-8"), name, "the program's own data", kind)


data_beside = cache(read_beside)  # read once and kept


def parse_toml(text: str, where: str, what: str, kind: Any = dict[str, Any]) -> Any:
    """Return a TOML text as a type; raises ``MalformedError``: ``where`` names the text, ``what`` was expected."""
    try:
        return convert(toml_tables(text), kind)
    except (TomlError, msgspec.ValidationError) as error:
        raise MalformedError(f"{where}: expected {what}: {error}") from error
