"""Replace serial numbers, addresses, names and paths by stable pseudonyms, for captures and shared sessions.

A value has the same pseudonym everywhere, so a masked file still shows which path leads to which disk. The
pseudonym is a keyed hash: without the key, an address cannot be found by trying all of them.

Secrets are found in two ways. Values without a recognizable form, such as serial numbers and host names, are
registered with ``add_secrets`` and then found in any text, in any case and with or without separators. Values with a
recognizable form are found by pattern: MAC and IP addresses, WWNs, UUIDs, NFS exports, mail addresses, paths.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct, field


class Secret(Enum):
    """The kind of a secret; the value is the prefix of its pseudonym."""

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


_MIN_NAME_LENGTH = 3
"""Shorter names would match ordinary words; fields that contain only the name are still masked."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]")
"""A short name of a host or a person that is masked where it is a word of a sentence."""
IMPORTER = "sizeup session import"
"""The author of notes that the program wrote."""

_PUBLIC_ADDRESSES = frozenset({"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1"})  # noqa: S104 -- compared only
_PUBLIC_NAMES = frozenset({"localhost", "localhost.localdomain", "localhost4", "localhost6", IMPORTER})

# Paths that exist on every Linux. Paths below /sys and /proc are kept; addresses in them are masked.
_PUBLIC_TREES = ("/sys/", "/proc/", "/usr/share/", "/usr/lib/")
_PUBLIC_PATH = re.compile(
    r"/(?:boot(?:/efi)?|bin|dev(?:/shm|/null)?|etc(?:/fstab|/hosts|/hostname|/resolv\.conf)?|home|lib|media|mnt|opt|proc"
    r"|root|run|s|sbin|srv|sys|tmp|usr(?:/bin|/lib|/local|/share)?|var(?:/lib|/log|/tmp)?)?"
)
"""``/s`` is the end of a rate, not a path."""
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
_PLAIN_MAC = re.compile(
    rf"(?:(?<![0-9A-Za-z_.+])|(?<=\b(?:en|ib|sl|wl|ww)x))(?=[{_HEX}.-]{{0,13}}[A-Fa-f])(?=[{_HEX}.-]{{0,13}}[0-9])"
    rf"(?:[{_HEX}]{{12}}|[{_HEX}]{{4}}([.-])[{_HEX}]{{4}}\1[{_HEX}]{{4}})(?![.-]?[0-9A-Za-z_])"
)
"""A MAC without separators, as in ``enx001122aabbcc``, or in Cisco's notation.

One of decimal digits alone is found only where it is registered: it may be a number. A hash is longer, or follows
the ``g`` or ``+`` of a version.
"""
_TAG = re.compile(r"((?:PART)?(UUID|LABEL)=[\"']?)((?<=\")[^\"]+|(?<=')[^']+|[^\s\"',;]+)")
_ADDRESS = re.compile(rf"(?<![0-9A-Za-z_.:])(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[{_HEX}:]*::?[{_HEX}:.]*)(?![0-9A-Za-z_])")
_MAIL = re.compile(rf"{_START}[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_EXPORT = re.compile(r"(?<![0-9A-Za-z_./-])((?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[^\]\s]*\])):(?=/)")
_PART = r"(?:\\ |[^\s\"'<>|;,(){}\[\]\x00])"
_QUOTED = re.compile(r"([\"'`])((?:\.{0,2}/|[A-Za-z]:\\)[^\"'`\n]+)\1")
_PATH = re.compile(
    rf"(?:(?<![0-9A-Za-z_./-])\.{{1,2}}|(?<![0-9A-Za-z_.)/-]))/{_PART}*"
    rf"(?:(?: [A-Z][\w&+-]+){{1,3}}/(?!s\b){_PART}*|(?: [\w&+-]+){{1,2}}/{_PART}*\w\.[A-Za-z]\w{{0,4}}\b)*"
)
"""A path, and beyond a blank what can only be its rest: a capitalized name before a slash, or a file with suffix."""
_WINDOWS = re.compile(rf"(?<![\w\\])(?:[A-Za-z]:\\|\\\\(?=\w)){_PART}*(?:(?: [^\s\\\"']+){{1,3}}\\{_PART}*)*")
_LINK = re.compile(rf"(?<![\w.-])by-(?:id|label|partlabel|partuuid|path|uuid)/{_PART}+")
_KIND_BELOW = {
    "by-uuid": Secret.UUID, "by-partuuid": Secret.UUID, "by-label": Secret.NAME, "by-partlabel": Secret.NAME,
}  # fmt: skip
_KEPT = frozenset({"", ".", "..", "/", "\\", "by-id", "by-path", *_KIND_BELOW})
_DRIVE = re.compile("[A-Za-z]:")
_FILE = re.compile(rf"{_START}[\w.+-]*\w\.(?:csv|dat|dbf|html?|jsonl?|log|lst|ora|out|txt)(?:\.gz)?{_END}")
"""A file name without a directory, such as that of an imported result."""
_SEPARATORS = re.compile(r"^(?:0x|naa\.|eui\.|wwn-0x)|[:-]")
"""Prefixes and separators in which two notations of one name differ."""
_TRAILING = ".:!?"
_SLOT = re.compile(rf"[{_HEX}]{{4,8}}:[{_HEX}]{{2}}:[{_HEX}]{{2}}\.[0-7]")
"""A PCI address, which identifies nobody."""


def _is_public(path: str) -> bool:
    """Return whether the path, or the device by its kernel name, exists on every Linux."""
    device = path if path.startswith("/dev/") else f"/dev/{path}"
    return bool(_PUBLIC_PATH.fullmatch(path) or path.startswith(_PUBLIC_TREES) or _PUBLIC_DEVICE.fullmatch(device))


def _finder(names: Sequence[str]) -> re.Pattern[str] | None:
    found = "|".join(names)
    return re.compile(f"(?<![0-9A-Za-z])(?:{found})(?![0-9A-Za-z])", re.IGNORECASE) if found else None


class Masker(Struct):
    """Replaces secrets by pseudonyms, and keeps the list of both."""

    key: bytes
    public: frozenset[str] = frozenset()
    """Public texts that are never masked, such as the links of the built-in sources."""
    masked: dict[str, str] = field(default_factory=dict)
    """The pseudonym of every secret that was found."""
    _known: dict[str, Secret] = field(default_factory=dict)
    _domains: set[str] = field(default_factory=set)
    _finder: re.Pattern[str] | None = None
    _blanks: re.Pattern[str] | None = None
    """Finds registered names that hold a blank, of which a pattern would see the first word."""
    _short: re.Pattern[str] | None = None
    """Finds names that are too short to be found in other words."""
    _pseudonyms: set[str] = field(default_factory=set)
    _cache: dict[str, str] = field(default_factory=dict)
    """Masked texts by original, because a session repeats the same strings many times."""

    def add_secrets(self, kind: Secret, names: Iterable[str]) -> None:
        """Register secrets that no pattern can recognize; call it before the first text is masked."""
        for name in names:
            stripped = name.strip()
            public = stripped in _PUBLIC_NAMES or _is_public(stripped) or _SLOT.fullmatch(stripped)
            first = stripped.partition(".")[0] if kind is Secret.HOST else stripped
            if kind in (Secret.HOST, Secret.PERSON) and _WORD.fullmatch(first):
                self._known |= {first: kind, first.lower(): kind}
            if len(stripped) < _MIN_NAME_LENGTH or public:
                continue
            for variant in (stripped, _SEPARATORS.sub("", stripped)):
                if len(variant) >= _MIN_NAME_LENGTH:
                    self._known.setdefault(variant.lower(), kind)
            if kind is Secret.HOST:
                short, _, domain = stripped.lower().partition(".")
                self._known.setdefault(short, kind)
                if "." in domain:
                    self._domains.add(domain)
        # The longest first, so that a name inside another does not cut it in two.
        ordered = sorted((name for name in self._known if len(name) >= _MIN_NAME_LENGTH), key=len, reverse=True)
        neighbors = [rf"(?:[\w-]+\.)*{re.escape(domain)}" for domain in sorted(self._domains, key=len, reverse=True)]
        self._finder = _finder([*neighbors, *map(re.escape, ordered)])
        self._blanks = _finder([re.escape(name) for name in ordered if " " in name])
        short = "|".join(filter(_WORD.fullmatch, self._known))
        self._short = re.compile(rf"(?<![\w./:@-])(?:{short})(?![\w/:@-]|\.\w)") if short else None
        self._cache.clear()

    def pseudonym(self, kind: Secret, secret: str) -> str:
        """Return the pseudonym of a secret, such as ``host-4f2a91c0``; the same for each notation."""
        if secret in self._pseudonyms:
            return secret
        normalized = _SEPARATORS.sub("", secret.strip().lower())
        if kind is Secret.MAC:
            normalized = normalized.replace(".", "")
        digest = hmac.new(self.key, f"{kind.value}\0{normalized}".encode(errors="replace"), hashlib.sha256).hexdigest()
        # Two digits of the hash would collide on a large host, eight do not; all digits would not fit a table.
        replacement = f"{kind.value}-{digest[:8]}"
        self.masked[secret] = replacement
        self._pseudonyms.add(replacement)
        return replacement

    def mask_field(self, kind: Secret, secret: str) -> str:
        """Return the pseudonym of a field that contains one secret; public values are kept."""
        if not secret or secret in _PUBLIC_NAMES or secret in _PUBLIC_ADDRESSES or _SLOT.fullmatch(secret):
            return secret
        return self.path(secret) if kind is Secret.PATH else self.pseudonym(kind, secret)

    def text(self, text: str) -> str:
        """Return the text with every secret in it replaced."""
        if text in self.public:
            return text
        known = self._cache.get(text)
        if known is not None:
            return known
        original = text
        # Paths last but for the names that are known: an export's server must still stand before its path.
        if self._blanks is not None:
            text = self._blanks.sub(lambda match: self._mask_known_name(match[0]), text)
        text = _TAG.sub(
            lambda match: match[1] + self.pseudonym(Secret.UUID if match[2] == "UUID" else Secret.NAME, match[3]), text
        )
        text = _EXPORT.sub(self._mask_server, self._recognized(text))
        text = _QUOTED.sub(lambda match: f"{match[1]}{self.path(match[2])}{match[1]}", text)
        for pattern in (_WINDOWS, _LINK, _PATH):
            text = pattern.sub(self._mask_path, text)
        text = _FILE.sub(lambda match: self.pseudonym(Secret.PATH, match[0]), text)
        if self._finder is not None:
            text = self._finder.sub(lambda match: self._mask_known_name(match[0]), text)
        if self._short is not None and " " in original:  # alone it may be a unit, such as ns
            text = self._short.sub(lambda match: self._mask_known_name(match[0]), text)
        self._cache[original] = text
        return text

    def path(self, path: str) -> str:
        """Return the path with each part replaced, so that directories stay recognizable; public paths are kept."""
        if _is_public(path):
            return path
        public = next((tree for tree in ("/dev/disk/", "/dev/") if path.startswith(tree)), "")
        masked, above = [public], ""
        # A blank is escaped in tables of mounts and in a shell.
        for part in re.split(r"([/\\])", path.removeprefix(public).replace("\\040", " ").replace("\\ ", " ")):
            kept = part in _KEPT or (len(masked) == 1 and _DRIVE.fullmatch(part))
            kind = _KIND_BELOW.get(above, Secret.PATH)
            masked.append(part if kept else self.pseudonym(kind, self._recognized(part)))
            above = part if part not in ("/", "\\") else above
        return "".join(masked)

    def _recognized(self, text: str) -> str:
        """Return the text, or a part of a path, without what its form alone tells."""
        text = _UUID.sub(lambda match: self.pseudonym(Secret.UUID, match[0]), text)
        text = _WWN.sub(lambda match: self.pseudonym(Secret.WWN, match[0]), text)
        for pattern in (_MAC, _PLAIN_MAC):
            text = pattern.sub(
                lambda match: self.pseudonym(self._known.get(match[0].lower(), Secret.MAC), match[0]), text
            )
        text = _MAIL.sub(lambda match: self.pseudonym(Secret.PERSON, match[0]), text)
        return _ADDRESS.sub(self._mask_address, text)

    def _mask_known_name(self, found: str) -> str:
        # A name that was not registered itself is another host of a registered domain.
        return self.mask_field(self._known.get(found.lower(), Secret.HOST), found)

    def _mask_address(self, match: re.Match[str]) -> str:
        found = match[0].rstrip(".:") if not match[0].endswith("::") else match[0]
        try:
            ipaddress.ip_address(found)
        except ValueError:
            return match[0]
        if found in _PUBLIC_ADDRESSES:
            return match[0]
        return self.pseudonym(Secret.ADDRESS, found) + match[0][len(found) :]

    def _mask_server(self, match: re.Match[str]) -> str:
        server = match[1]
        if server in _PUBLIC_NAMES or server.startswith("ip-") or server.lower() in {"http", "https", "file"}:
            return match[0]
        return f"{self.pseudonym(Secret.HOST, server)}:"

    def _mask_path(self, match: re.Match[str]) -> str:
        found = match[0].rstrip(_TRAILING)
        return self.path(found) + match[0][len(found) :]
