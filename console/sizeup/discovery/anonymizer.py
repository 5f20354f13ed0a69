"""Stand-ins for serial numbers, addresses and names in a capture, each of the shape of what it replaces.

Sessions that are shared have pseudonyms that say what they stand for (``sizeup.masking``). A capture
must still parse as the kernel's files do, so here letters stay letters, digits digits, an address an
address, and lengths do not change. The same value has the same stand-in throughout one file, so that a
topology still links up; the salt is the file's own, so that two files cannot be matched.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
import string
from collections.abc import Callable, Iterator, Mapping

_NUMBER_MINIMUM = 8
_WORD_LIMIT = 1 << 13

_PREFIX = re.compile(r"0x(?=[0-9a-f])")
"""Spelling that is not part of a name."""

_MINIMUM = 3
"""Shorter values say nothing and would be found inside everything."""

_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV6 = re.compile(r"(?<![\w:])(?=[0-9a-f:]*::?[0-9a-f:]*:)[0-9a-f:]{3,39}(?:%\w+)?(?![\w:])", re.IGNORECASE)
_MAC = re.compile(r"(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?:(?::[0-9a-f]{2}){14})?(?![0-9a-f:])", re.IGNORECASE)
_SAFE_WORDS = frozenset({
    "unknown", "none", "not specified", "default string", "to be filled by o.e.m.", "(none)", "(null)", "<null>",
    "null",
})  # fmt: skip

_BENCHMARK_NETWORK = int(ipaddress.IPv4Address("198.18.0.0"))
_BENCHMARK_HOSTS = 1 << 17  # RFC 2544: nobody's addresses


def new_salt() -> bytes:
    """A salt for one file."""
    return secrets.token_bytes(16)


class Anonymizer:
    """Replaces what it has learned, and what looks like an address, by stand-ins."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt
        self._known: dict[str, str] = {}
        self._words: list[str] = []
        self._shares: list[str] = []
        self._taken: dict[str, str] = {}
        self._patterns: dict[bool, re.Pattern[str]] = {}

    @property
    def masked(self) -> Mapping[str, str]:
        """Return each original by what stands for it."""
        return {masked: original for masked, original in self._taken.items() if masked != original}

    # Learning

    def learn(self, value: str | None) -> None:
        """Replace this value wherever it stands as a word of its own.

        A short number would be found in half of all files, a text beyond any file of sysfs in none but its own: they
        are replaced only where they are the whole text.
        """
        text = (value or "").strip()
        bare = _PREFIX.sub("", text)
        if len(bare) < _MINIMUM or bare in self._known or bare.lower() in _SAFE_WORDS or not bare.strip("0:.- "):
            return
        self._known[bare] = self.replacement(bare)
        if len(bare) < _WORD_LIMIT and (not bare.isdecimal() or len(bare) >= _NUMBER_MINIMUM):
            self._words.append(bare)
            self._patterns.clear()

    def learn_mac(self, value: str | None) -> None:
        """A hardware address, also as it stands in interface names without its colons."""
        if value is not None and value.strip("0:"):
            self.learn(value)
            if value in self._known and (bare := value.replace(":", "")) not in self._known:
                self._known[bare] = self._known[value].replace(":", "")
                self._words.append(bare)

    def learn_share(self, export: str, mount_point: str) -> None:
        """An export and its mount point: replaced in mount tables alone, where their words mean nothing else."""
        server, colon, directory = export.rpartition(":")
        known = {
            export: f"{self.replacement(server) if server else ''}{colon}{self.replacement(directory)}",
            mount_point: self.replacement(mount_point),
        }
        for text, masked in known.items():
            if len(text) >= _MINIMUM and text not in self._known:
                self._known[text] = masked
                self._shares.append(text)
                escaped = text.replace(" ", r"\040")
                if escaped != text:
                    self._known[escaped] = masked.replace(" ", r"\040")
                    self._shares.append(escaped)
        self._patterns.clear()

    # Stand-ins

    def replacement(self, value: str) -> str:
        """What stands for the value; the same each time."""
        for kind, make in ((_IPV4, self._ip), (_MAC, self._mac)):
            if kind.fullmatch(value):
                return make(value)
        return self._unique(value, self._shaped)

    def _unique(self, value: str, make: Callable[[str, int], str]) -> str:
        for attempt in range(1 << 12):
            candidate = make(value, attempt)
            if self._taken.setdefault(candidate, value) == value and (candidate != value or attempt > 64):
                return candidate
        return make(value, 0)

    def _stream(self, value: str, attempt: int) -> Iterator[int]:
        """Return bytes, more than the value has characters; SHA-3 may have its key in front of the message."""
        return iter(hashlib.shake_256(self._salt + f"{attempt}:{value}".encode()).digest(len(value) + 32))

    def _shaped(self, value: str, attempt: int) -> str:
        hexadecimal = re.fullmatch(r"[0-9a-f:.\-]+", value) is not None and re.search(r"[0-9]", value) is not None
        out: list[str] = []
        for character, number in zip(value, self._stream(value, attempt), strict=False):
            if hexadecimal and character in "0123456789abcdef":
                # The leading digit stays: it is the kind of a world-wide name.
                out.append(character if not out else "0123456789abcdef"[number % 16])
            elif character.isdigit():
                out.append(string.digits[number % 10])
            elif character.isalpha():
                letters = string.ascii_uppercase if character.isupper() else string.ascii_lowercase
                out.append(letters[number % 26])
            else:
                out.append(character)
        return "".join(out)

    def _mac(self, value: str) -> str:
        if not value.strip("0:") or not value.lower().strip("f:"):
            return value

        def make(text: str, attempt: int) -> str:
            numbers = self._stream(text.lower(), attempt)
            return ":".join(["02", *(f"{next(numbers):02x}" for _ in range(text.count(":")))])

        return self._unique(value, make)

    def _ip(self, value: str) -> str:
        bare, percent, zone = value.partition("%")
        try:
            address = ipaddress.ip_address(bare)
        except ValueError:
            return value
        if address.is_loopback or address.is_unspecified or bare.startswith("255."):
            return value

        def make(text: str, attempt: int) -> str:
            numbers = self._stream(text, attempt)
            if address.version == 4:
                host = int.from_bytes(bytes(next(numbers) for _ in range(4))) % _BENCHMARK_HOSTS
                return str(ipaddress.IPv4Address(_BENCHMARK_NETWORK + host))
            return "2001:db8::" + ":".join(f"{next(numbers) << 8 | next(numbers):x}" for _ in range(4))

        return self._unique(bare, make) + percent + zone

    # Replacing

    def text(self, text: str, *, mounts: bool = False) -> str:
        """The text with all that was learned replaced; in mount tables, shares and network addresses too."""
        if (whole := self._known.get(text.strip())) is not None and (mounts or text.strip() not in self._shares):
            return text.replace(text.strip(), whole)
        pattern = self._patterns.get(mounts)
        words = self._words + self._shares if mounts else self._words
        if pattern is None and words:
            longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
            pattern = re.compile(f"(?<![A-Za-z0-9])((?:0x)?)({longest_first})(?![A-Za-z0-9])")
            self._patterns[mounts] = pattern
        if pattern is not None:
            text = pattern.sub(lambda match: match[1] + self._known[match[2]], text)
        if mounts:
            for pattern in (_IPV4, _IPV6):
                text = pattern.sub(lambda match: match[0] if match[0] in self._taken else self._ip(match[0]), text)
        return text
