"""Recorded text that a test compares with; ``SIZEUP_UPDATE_GOLDENS=1`` writes it again, so that a commit shows it."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sizeup.model.machine import Gap
from sizeup.model.plan import Refusal, Step
from sizeup.model.sample import Estimate

FOLDER = Path(__file__).parent / "plugins" / "goldens"
_DIGITS = 7


def plain(value: Any) -> Any:
    """Return a value with its floats in few enough digits that the order of a sum does not show."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def lines(found: Iterable[object]) -> Iterable[str]:
    """Yield a line for each estimate, gap, step or refusal; of an estimate without what is as in the one before."""
    before: dict[str, Any] = {}
    for one in found:
        if isinstance(one, Estimate | Gap | Step | Refusal):
            fields = msgspec.to_builtins(one)
            shown = {name: value for name, value in fields.items() if value not in (None, [], {}, "", 0)}
            if isinstance(one, Estimate):
                extra = {name: value for name, value in fields["extra"].items() if before.get(name) != value}
                extra.pop("histogram", None)
                as_before = fields["caveats"] == before.get("caveats")
                shown |= {"extra": [*extra.items()], "caveats": "as before" if as_before else fields["caveats"]}
                before = {**fields["extra"], "caveats": fields["caveats"]}
            yield f"{type(one).__name__} {msgspec.json.encode(plain(shown)).decode()}"


def compare(name: str, found: Iterable[str]) -> None:
    """Fail unless the lines are those that were recorded."""
    path, text = FOLDER / f"{name}.txt", "".join(f"{line}\n" for line in found)
    if os.environ.get("SIZEUP_UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    recorded = path.read_text(encoding="utf-8").splitlines()
    assert text.splitlines() == recorded, f"{path.name}: if it is meant, SIZEUP_UPDATE_GOLDENS=1 records it again"
