"""A session without what names its owner: every text of every record masked, then gzipped.

The key of this installation makes pseudonyms equal in every file that it shares.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from sizeup import files
from sizeup.errors import RefusedError
from sizeup.masking import Masker, Secret
from sizeup.model.machine import Platform
from sizeup.model.sample import Coordinates
from sizeup.portability import O_NONBLOCK
from sizeup.session.reader import read_session
from sizeup.session.records import ENCODER, AnyRecord, CommandRecord, ExperimentRecord, SamplesRecord
from sizeup.session.value import Session
from sizeup.text import one_line

_KEY_BYTES = 32
_WORDS: Mapping[Secret, tuple[str, ...]] = {
    Secret.HOST: ("hostname", "host", "server"),
    Secret.MAC: ("mac",),
    Secret.ADDRESS: ("address", "addresses"),
    Secret.PATH: (
        "exports", "mount_point", "mount_points", "path", "paths", "target", "file", "directory", "sysroot",
    ),
    Secret.SERIAL: ("serial", "serials", "allow_write_to"),
    Secret.WWN: ("wwn", "wwid", "wwpn", "wwnn", "nqn", "iqn", "guid"),
    Secret.UUID: ("uuid",),
    Secret.NAME: ("dm_uuid", "dm_name", "test_name"),
    Secret.PERSON: ("author",),
}  # fmt: skip
"""By what they hold: the last words of the names of the model's fields and of probes' settings."""
_NAMED = {word: kind for kind, words in _WORDS.items() for word in words}

_LAST_WORDS = re.compile("(?:.*_)?(" + "|".join(sorted(_NAMED, key=len, reverse=True)) + ")")
_PROCESSES = "others_busy"
"""The fact that lists who else was busy: ``oracle_prod 45 %, java 3 %``."""
_NAME_AND_SHARE = re.compile(r"(.+?)(\s*\d+\s*%)?", re.DOTALL)
_LEFT_OUT = "(left out)"
"""Stands for a command of the user, which may hold anything."""
_PLAIN_WORDS = frozenset({"pci_address"})  # a slot number says nothing about whose machine it is


def share(path: str, out: BinaryIO, masker: Masker, also: Iterable[str] = ()) -> tuple[Session, tuple[str, ...]]:
    """Write the masked session of ``path`` to ``out``, gzipped; the session as it was read, and free text as masked.

    Free text is what people wrote and why steps did not end well, which may quote anything.

    ``also`` are names to mask besides those that its fields hold. Records of kinds that this version does not know are
    left out, as they may hold names.
    """
    names_by_kind: dict[Secret, set[str]] = {}

    def collect(record: AnyRecord) -> None:
        if not isinstance(record, SamplesRecord):
            for kind, name in _named(record):
                names_by_kind.setdefault(kind, set()).add(name)

    def write(record: AnyRecord) -> None:
        packed.write(ENCODER.encode(masked(record, masker)) + b"\n")

    session = read_session(path, collect)
    for kind, names in names_by_kind.items():
        masker.add_secrets(kind, names)
    masker.add_secrets(Secret.NAME, also)
    # No name and no time in the gzip header, either.
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as packed:
        read_session(path, write)
    texts = [session.header.title]
    texts += [text for note in session.notes for text in (note.title, note.text, *note.tags)]
    texts += [outcome.reason for outcome in session.outcomes.values() if not outcome.status.finished]
    return session, tuple(masker.text(one_line(text)) for text in dict.fromkeys(texts) if text.strip())


def masked(value: object, masker: Masker, kind: Secret | None = None) -> object:
    """The value with every text in it masked, names of settings and facts included.

    ``kind`` is what the field holds whole, None for free text.
    """
    if isinstance(value, str) and not isinstance(value, Enum):
        return masker.text(value) if kind is None else masker.mask_field(kind, value)
    if isinstance(value, Mapping):
        found: dict[str, object] = {}
        for name, item in value.items():
            shown = masker.text(str(name))
            if name == _PROCESSES and isinstance(item, str):
                parts = filter(None, map(_NAME_AND_SHARE.fullmatch, item.split(", ")))
                found[shown] = ", ".join(masker.pseudonym(Secret.PROCESS, one[1]) + (one[2] or "") for one in parts)
            else:
                found[shown] = masked(item, masker, _kind_of(str(name)))
        return found
    if isinstance(value, tuple | list):
        return type(value)(masked(item, masker, kind) for item in value)
    if isinstance(value, SamplesRecord):
        # A million numbers hold no names; only their labels are walked.
        labels = masker.text(value.step), masker.text(value.series), cast("Coordinates", masked(value.at, masker))
        return msgspec.structs.replace(value, step=labels[0], series=labels[1], at=labels[2])
    if isinstance(value, Platform) and value.command_line is not None:
        # Roots, addresses and tokens stand there in any form; what bears on a measurement is known by name.
        value = msgspec.structs.replace(value, command_line=" ".join(value.kernel_settings))
    if isinstance(value, ExperimentRecord):
        value = msgspec.structs.replace(value, a=_LEFT_OUT, b=_LEFT_OUT, restore=_LEFT_OUT, user="")
    if isinstance(value, CommandRecord):
        value = msgspec.structs.replace(value, command=_LEFT_OUT, output=())
    if isinstance(value, msgspec.Struct):
        fields = {name: masked(getattr(value, name), masker, _kind_of(name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value


def _named(value: object, kind: Secret | None = None) -> Iterator[tuple[Secret, str]]:
    """Yield every text in a field that names a machine, disk, directory or person."""
    if isinstance(value, str):
        if kind is not None and not isinstance(value, Enum):
            yield kind, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _named(item, _kind_of(str(name)))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _named(item, kind)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _named(getattr(value, name), _kind_of(name))


def _kind_of(name: str) -> Secret | None:
    match = _LAST_WORDS.fullmatch(name.lower())
    return None if match is None or name in _PLAIN_WORDS else _NAMED[match[1]]


def installed_masker() -> tuple[Masker, str]:
    """Return the masker of this installation, and why its key cannot be saved; empty where it is."""
    key = secrets.token_bytes(_KEY_BYTES)
    try:
        return Masker(kept_key(_file(), key)), ""
    except (OSError, RefusedError) as error:
        return Masker(key), str(error.strerror if isinstance(error, OSError) else error)


def host_pseudonym(host: str) -> str | None:
    """Return the name of a host in the files that this installation has shared; None if it has shared none."""
    with suppress(OSError, RefusedError):
        key = _key(_file())
        if len(key) == _KEY_BYTES:
            return Masker(key).mask_field(Secret.HOST, host)
    return None


def _file() -> Path:
    from platformdirs import user_state_path

    return user_state_path("sizeup", appauthor=False) / "masking.key"


def kept_key(file: Path, new: bytes) -> bytes:
    """Return the key in a file; it is created from ``new`` if it is absent or incomplete."""
    files.make_directory(str(file.parent))
    with suppress(FileNotFoundError):
        if len(key := _key(file)) == _KEY_BYTES:
            return key
        files.remove(str(file))
    try:
        files.write(str(file), lambda written: written.write(new), replace=False, mode=0o600)
    except FileExistsError:  # created concurrently by another process; use that key
        return _key(file)
    return new


def _key(file: Path) -> bytes:
    # Opening a FIFO would block.
    with os.fdopen(files.open_existing(str(file), os.O_RDONLY | O_NONBLOCK, private=True), "rb") as kept:
        if not stat.S_ISREG(os.fstat(kept.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        return kept.read(_KEY_BYTES + 1)
