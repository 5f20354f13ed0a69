"""Stable pseudonyms for serials, addresses, names and paths: for capture and for sharing.

One thing has one pseudonym, wherever and however often it appears, so that a masked file still says
which path leads to which disk. The pseudonym is a keyed hash: without the key nobody can try all
addresses until one fits.

Two nets catch what must not leave. Names that cannot be recognized by their looks, such as a serial
or a host, are told to the masker and found again in any text, in any case and with or without the
separators inside. What can be recognized is found without being told: MAC and IP addresses, world
wide names, UUIDs, NFS exports, mail addresses, paths.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct, field


class Secret(Enum):
    """What a pseudonym stands for; the value opens it."""

    HOST = "host"
    ADDRESS = "ip"
    MAC = "mac"
    WWN = "wwn"
    SERIAL = "serial"
    UUID = "uuid"
    NAME = "name"
    """A volume's or another name that an administrator chose."""
    PERSON = "person"
    PROCESS = "process"
    PATH = "path"


_SHORTEST_KNOWN = 3
"""Shorter names would be found inside half of all words; their own fields are still masked."""

_PUBLIC_ADDRESSES = frozenset({"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1"})  # noqa: S104 -- compared only
_PUBLIC_HOSTS = frozenset({"localhost", "localhost.localdomain", "localhost4", "localhost6"})

# Paths that every Linux has. What stands below /sys and /proc is the kernel's wording; addresses in it are
# masked like anywhere else.
_PUBLIC_TREES = ("/sys/", "/proc/", "/usr/share/", "/usr/lib/")
_PUBLIC_PATH = re.compile(
    r"/(?:boot(?:/efi)?|bin|dev(?:/shm|/null)?|etc(?:/fstab|/hosts|/hostname|/resolv\.conf)?|home|lib|media|mnt|opt|proc"
    r"|root|run|s|sbin|srv|sys|tmp|usr(?:/bin|/lib|/local|/share)?|var(?:/lib|/log|/tmp)?)?"
)
"""``/s`` is no path at all but the end of a rate."""
_PUBLIC_DEVICE = re.compile(
    r"/dev/(?:(?:sd|vd|xvd|hd)[a-z]+\d*|(?:nvme\d+(?:c\d+)?n\d+(?:p\d+)?|nvme\d+)|dm-\d+|md\d+|loop\d+|sr\d+|ram\d+|"
    r"rssd[a-z]\d*|mmcblk\d+(?:p\d+)?|cpu_dma_latency|cpu/\d+/msr|mapper|mapper/control|hugepages)"
)

_HEX = "0-9A-Fa-f"
_START, _END = r"(?<![0-9A-Za-z_])", r"(?![0-9A-Za-z_])"
_UUID = re.compile(rf"{_START}[{_HEX}]{{8}}-(?:[{_HEX}]{{4}}-){{3}}[{_HEX}]{{12}}{_END}")
_WWN = re.compile(
    rf"{_START}(?:(?:0x|naa\.|eui\.|wwn-0x|fc_|nqn\.)?[{_HEX}]{{16}}(?:[{_HEX}]{{16}})?"
    rf"|(?:[{_HEX}]{{2}}:){{7}}[{_HEX}]{{2}}|(?:[{_HEX}]{{4}}:){{3}}[{_HEX}]{{4}}"
    rf"|nqn\.[0-9]{{4}}-[0-9]{{2}}\.[^\s,;\"']+|iqn\.[0-9]{{4}}-[0-9]{{2}}\.[^\s,;\"']+){_END}"
)
_MAC = re.compile(rf"{_START}(?:[{_HEX}]{{2}}([:-]))(?:[{_HEX}]{{2}}\1){{4}}[{_HEX}]{{2}}{_END}")
_ADDRESS = re.compile(rf"(?<![0-9A-Za-z_.:])(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[{_HEX}:]*::?[{_HEX}:.]*)(?![0-9A-Za-z_])")
_MAIL = re.compile(rf"{_START}[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_EXPORT = re.compile(r"(?<![0-9A-Za-z_./-])((?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[^\]\s]*\])):(?=/)")
_PATH = re.compile(r"(?:(?<![0-9A-Za-z_./-])\.{1,2}|(?<![0-9A-Za-z_.)/-]))/[^\s\"'<>|;,(){}\[\]\x00]*")
_FILE = re.compile(rf"{_START}[\w.+-]*\w\.(?:csv|dat|dbf|html?|jsonl?|log|lst|ora|out|txt)(?:\.gz)?{_END}")
"""A file that stands without its folder, as names of imported results do."""
_SPELLING = re.compile(r"^(?:0x|naa\.|eui\.|wwn-0x)|[:-]")
"""What two ways to write one name differ in."""
_TRAILING = ".:!?"


_SLOT = re.compile(rf"[{_HEX}]{{4,8}}:[{_HEX}]{{2}}:[{_HEX}]{{2}}\.[0-7]")
"""A PCI address: where a card sits says nothing about whose it is."""


def _is_public(path: str) -> bool:
    """Whether every Linux has this path, or this device by its kernel name, with or without ``/dev/``."""
    device = path if path.startswith("/dev/") else f"/dev/{path}"
    return bool(_PUBLIC_PATH.fullmatch(path) or path.startswith(_PUBLIC_TREES) or _PUBLIC_DEVICE.fullmatch(device))


class Masker(Struct):
    """Replaces secrets by pseudonyms, and remembers which."""

    key: bytes
    public: frozenset[str] = frozenset()
    """Texts that are everybody's as they stand, such as the links of our own sources."""
    masked: dict[str, str] = field(default_factory=dict)
    """Every secret that was met, and its pseudonym."""
    _known: dict[str, Secret] = field(default_factory=dict)
    _domains: set[str] = field(default_factory=set)
    _finder: re.Pattern[str] | None = None
    _finished: dict[str, str] = field(default_factory=dict)
    """Texts already masked: a session repeats the same few strings a million times."""

    def tell(self, kind: Secret, names: Iterable[str]) -> None:
        """Name secrets that no pattern can recognize; all of them before the first text is masked."""
        for name in names:
            stripped = name.strip()
            if len(stripped) < _SHORTEST_KNOWN or stripped in _PUBLIC_HOSTS or _is_public(stripped):
                continue
            if _SLOT.fullmatch(stripped):
                continue
            for spelling in (stripped, _SPELLING.sub("", stripped)):
                if len(spelling) >= _SHORTEST_KNOWN:
                    self._known.setdefault(spelling.lower(), kind)
            if kind is Secret.HOST:
                short, _, domain = stripped.lower().partition(".")
                self._known.setdefault(short, kind)
                if "." in domain:
                    self._domains.add(domain)
        # The longest first, so that a name inside another does not cut it in two.
        ordered = sorted((name for name in self._known if len(name) >= _SHORTEST_KNOWN), key=len, reverse=True)
        neighbors = [rf"(?:[\w-]+\.)*{re.escape(domain)}" for domain in sorted(self._domains, key=len, reverse=True)]
        found = "|".join([*neighbors, *map(re.escape, ordered)])
        self._finder = re.compile(f"(?<![0-9A-Za-z])(?:{found})(?![0-9A-Za-z])", re.IGNORECASE) if found else None
        self._finished.clear()

    def pseudonym(self, kind: Secret, secret: str) -> str:
        """The pseudonym of a whole secret, such as ``host-4f2a91c0``; the same for each way to write it."""
        plain = _SPELLING.sub("", secret.strip().lower())
        digest = hmac.new(self.key, f"{kind.value}\0{plain}".encode(errors="replace"), hashlib.sha256).hexdigest()
        # Two digits of the hash would collide on a large host, eight do not; all digits would not fit a table.
        replacement = f"{kind.value}-{digest[:8]}"
        self.masked[secret] = replacement
        return replacement

    def whole(self, kind: Secret, secret: str) -> str:
        """The pseudonym of a field that holds one secret and nothing else; what is everybody's stays."""
        if not secret or secret in _PUBLIC_HOSTS or secret in _PUBLIC_ADDRESSES or _SLOT.fullmatch(secret):
            return secret
        return self.path(secret) if kind is Secret.PATH else self.pseudonym(kind, secret)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced."""
        if text in self.public:
            return text
        known = self._finished.get(text)
        if known is None:
            known = self._finished[text] = self._masked(text)
        return known

    def path(self, path: str) -> str:
        """A path by its parts, so that what lies in one folder still does; those of every Linux stay."""
        if _is_public(path):
            return path
        public = "/dev/" if path.startswith("/dev/") else "/" if path.startswith("/") else ""
        parts = [
            part if part in ("", ".", "..") else self.pseudonym(Secret.PATH, part)
            for part in path.removeprefix(public).split("/")
        ]
        return public + "/".join(parts)

    def _masked(self, text: str) -> str:
        # Paths last but for the names that are known: an export's server must still stand before its path.
        text = _UUID.sub(lambda match: self.pseudonym(Secret.UUID, match[0]), text)
        text = _WWN.sub(lambda match: self.pseudonym(Secret.WWN, match[0]), text)
        text = _MAC.sub(lambda match: self.pseudonym(Secret.MAC, match[0]), text)
        text = _MAIL.sub(lambda match: self.pseudonym(Secret.PERSON, match[0]), text)
        text = _ADDRESS.sub(self._address, text)
        text = _EXPORT.sub(self._server, text)
        text = _PATH.sub(self._found_path, text)
        text = _FILE.sub(lambda match: self.pseudonym(Secret.PATH, match[0]), text)
        if self._finder is not None:
            text = self._finder.sub(lambda match: self._told(match[0]), text)
        return text

    def _told(self, found: str) -> str:
        # What was not told itself is a neighbor in the domain of a host that was.
        return self.whole(self._known.get(found.lower(), Secret.HOST), found)

    def _address(self, match: re.Match[str]) -> str:
        found = match[0].rstrip(".:") if not match[0].endswith("::") else match[0]
        try:
            ipaddress.ip_address(found)
        except ValueError:
            return match[0]
        if found in _PUBLIC_ADDRESSES:
            return match[0]
        return self.pseudonym(Secret.ADDRESS, found) + match[0][len(found) :]

    def _server(self, match: re.Match[str]) -> str:
        server = match[1]
        if server in _PUBLIC_HOSTS or server.startswith("ip-") or server.lower() in {"http", "https", "file"}:
            return match[0]
        return f"{self.pseudonym(Secret.HOST, server)}:"

    def _found_path(self, match: re.Match[str]) -> str:
        found = match[0].rstrip(_TRAILING)
        return self.path(found) + match[0][len(found) :]
