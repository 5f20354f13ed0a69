"""The fields of the firmware's DMI table that the kernel shows as files."""

from __future__ import annotations

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.discovery.sysroot import Sysroot


class DmiNames(Struct, frozen=True, forbid_unknown_fields=True):
    """What texts of DMI say, by words in lower case."""

    placeholders: frozenset[str]
    """Texts that name nothing."""
    clouds: dict[str, str]
    cloud_init: dict[str, str]
    """Clouds by the names that cloud-init has for them."""
    hypervisors: dict[str, str]
    """Empty where the word does not settle which."""


def known_names() -> DmiNames:
    """Return the names of ``dmi_names.toml``, in its order."""
    return data_beside(__file__, "dmi_names.toml", DmiNames)  # type: ignore[no-any-return]


def dmi_path(field: str) -> str:
    """Return the path of a field such as ``product_name``."""
    return f"/sys/class/dmi/id/{field}"


def dmi_line(sysroot: Sysroot, field: str) -> str | None:
    """Return the text of a field; None where it is missing or cannot be read."""
    return sysroot.line(dmi_path(field))
