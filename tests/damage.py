"""Damage that a file may have: bits that flipped, an end that is missing, lines out of order, hostile values."""

import gzip
import random
import re
from collections.abc import Callable

import msgspec

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
    numbers = list(re.finditer(rb"(?<=[:,=\[\s])-?\d[\d.]*", data))
    match = source.choice(numbers)
    return data[: match.start()] + source.choice(NUMBERS) + data[match.end() :]


def swap_text(source: random.Random, data: bytes) -> bytes:
    texts = list(re.finditer(rb'(?<=[:=\s])"[^"]*"', data))
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


def mutate(source: random.Random, data: bytes) -> bytes:
    """Return the bytes with one to three kinds of damage."""
    for _ in range(source.randint(1, 3)):
        try:
            data = source.choice(MUTATIONS)(source, data)
        except (IndexError, ValueError):
            break  # an earlier one left nothing to change
    return data
