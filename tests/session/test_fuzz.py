"""Whatever a file holds, it is refused in one line or shown without a traceback, a hang or an escape code."""

import gzip
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sizeup.batch.standard_output import session_lines
from sizeup.errors import SizeupError
from sizeup.session.reader import read_session
from sizeup.views.run.results import results_data

KEPT = (Path(__file__).parent / "formats/format-1.jsonl").read_bytes()
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = ["\x1b[2J", "[red]x[/red]", "\u202egnp", "\x9b31m", "A" * 5000, "</script><script>", "%s%n", "\ud800", ""]
NUMBERS = [
    b"-1",
    b"0",
    b"1e308",
    b"-1e999",
    b"9" * 400,
    b"NaN",
    b"null",
    b"true",
    b'"x"',
    b"[]",
    b"{}",
    b"0.5",
    b"-0.0",
]
SECONDS_EACH = 5.0

Mutation = Callable[[random.Random, bytes], bytes]


def flip(source: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(source.randint(1, 8)):
        changed[source.randrange(len(changed))] = source.randrange(256)
    return bytes(changed)


def cut(source: random.Random, data: bytes) -> bytes:
    start = source.randrange(len(data))
    return data[:start] if source.random() < 0.5 else data[:start] + data[source.randrange(start, len(data)) :]


def shuffle(source: random.Random, data: bytes) -> bytes:
    first, *lines = data.splitlines(keepends=True)
    how = source.randrange(4)
    if how == 0:
        source.shuffle(lines)
    elif how == 1:
        lines += source.choices(lines, k=5)
    elif how == 2:
        del lines[source.randrange(len(lines))]
    else:
        lines.insert(source.randrange(len(lines)), first)
    return first + b"".join(lines)


def swap_number(source: random.Random, data: bytes) -> bytes:
    numbers = list(re.finditer(rb"(?<=[:,\[])-?\d[\d.]*", data))
    match = source.choice(numbers)
    return data[: match.start()] + source.choice(NUMBERS) + data[match.end() :]


def swap_text(source: random.Random, data: bytes) -> bytes:
    texts = list(re.finditer(rb'(?<=:)"[^"]*"', data))
    match = source.choice(texts)
    hostile = msgspec.json.encode(source.choice(HOSTILE).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return data[: match.start()] + hostile + data[match.end() :]


def nest(source: random.Random, data: bytes) -> bytes:
    depth = source.choice([40, 60, 900, 5000, 100_000])
    opening, closing = source.choice([(b"[", b"]"), (b'{"a":', b"}")])
    bomb = opening * depth + b"1" + closing * depth
    lines = data.splitlines(keepends=True)
    place = source.randrange(len(lines))
    lines[place] = lines[place].replace(b"{", b'{"x":' + bomb + b",", 1) if source.random() < 0.5 else bomb + b"\n"
    return b"".join(lines)


def pack(source: random.Random, data: bytes) -> bytes:
    packed = gzip.compress(data, 1)
    return flip(source, packed) if source.random() < 0.7 else cut(source, packed)


MUTATIONS: list[Mutation] = [flip, cut, shuffle, swap_number, swap_text, nest, pack]


def mutate(source: random.Random) -> bytes:
    data = KEPT
    for _ in range(source.randint(1, 3)):
        try:
            data = source.choice(MUTATIONS)(source, data)
        except (IndexError, ValueError):
            break  # an earlier mutation left nothing to change
    return data


def check(path: Path, data: bytes) -> bool:
    """Open and show the file; whether it was taken for a session."""
    path.write_bytes(data)
    started = time.process_time()
    refusal = ""
    try:
        session = read_session(str(path))
        shown = "\n".join(session_lines(session, whole=True))
        msgspec.json.encode(results_data(session))
    except SizeupError as error:
        refusal = shown = str(error)
    assert not STEERING.search(shown), repr(STEERING.search(shown))
    assert "\n" not in refusal
    assert time.process_time() - started < SECONDS_EACH
    return not refusal


def run(path: Path, seed: int, count: int) -> None:
    source = random.Random(seed)
    for number in range(count):
        data = mutate(source)
        try:
            check(path, data)
        except BaseException:
            path.with_name(f"failed-{seed}-{number}").write_bytes(data)
            raise


@pytest.mark.ci
def test_a_few_hundred_mutated_sessions_are_refused_or_shown(tmp_path: Path) -> None:
    run(tmp_path / "mutant", seed=1, count=300)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_thousand_mutated_sessions_are_refused_or_shown(tmp_path: Path, seed: int) -> None:
    run(tmp_path / "mutant", seed=seed, count=1000)
