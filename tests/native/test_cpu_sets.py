"""A plain cpu_set_t ends at CPU 1023, so the C code declares none: sets are allocated by their size."""

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
PLAIN = re.compile(r"\bcpu_set_t\s+\w|\bCPU_(?:ZERO|SET|CLR|ISSET|COUNT|SETSIZE)\b")


@pytest.mark.parametrize(
    "line", ["cpu_set_t before;", "static cpu_set_t allowed;", "CPU_SET(3, &set);", "i < CPU_SETSIZE; i++"]
)
def test_a_plain_set_is_seen(line: str) -> None:
    assert PLAIN.search(line)


def test_no_source_has_a_plain_set() -> None:
    sources = sorted(path for path in NATIVE.rglob("*.[ch]") if "cpu_set" in path.read_text(encoding="utf-8"))
    assert NATIVE / "src" / "cpu.c" in sources
    found = [
        f"{path.relative_to(NATIVE)}:{number}: {line.strip()}"
        for path in sorted(NATIVE.rglob("*.[ch]"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if PLAIN.search(line)
    ]
    assert found == []
