"""The cloud that a machine is rented from and the type of the instance, from files alone; no network.

The type changes what the machine may use (vCPUs, network and disk bandwidth), and no other file of it says so. Two
sources: names in DMI, and what cloud-init kept of the provider's metadata when the machine booted.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from sizeup.discovery.dmi import dmi_line, dmi_path, known_names
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import CloudInstance
from sizeup.procfs.kernel_file import Unreadable

INSTANCE_DATA = "/run/cloud-init/instance-data.json"
"""What cloud-init knows of the instance, without secrets (cloud-init, "Instance metadata")."""
_CLOUD_ID = "/run/cloud-init/cloud-id"

_DMI_NAMES = ("sys_vendor", "product_name", "product_version", "chassis_asset_tag")

_LOCAL = frozenset({"nocloud", "none", "configdrive", "lxd", "wsl", "maas", "unknown"})
"""Data sources that are no cloud: a disk or a program of the site delivers the configuration."""

_TYPE_NAMES_THE_PRODUCT = frozenset({"Amazon EC2", "Scaleway"})
"""Providers that put the instance type into DMI's product name."""

_TYPE_PATHS = (
    ("ds", "meta_data", "instance-type"),
    ("ds", "meta_data", "instance_type"),
    ("ds", "meta_data", "instance", "instance-type"),
    ("ds", "meta_data", "imds", "compute", "vmSize"),
    ("ds", "meta_data", "machine-type"),
    ("ds", "meta_data", "shape"),
    ("ds", "ec2_metadata", "instance-type"),
    ("ds", "dynamic", "instance-identity", "document", "instanceType"),
)
"""Where the data sources of cloud-init keep the type: EC2, Alibaba, Azure, Google, Oracle, OpenStack."""

_TYPE = re.compile(r"[A-Za-z0-9](?:[\w.\-]|/(?=\w)){0,63}")


def provider_in(text: str) -> str | None:
    """Return the provider that a text of DMI names."""
    lowered = text.lower()
    return next((name for word, name in known_names().clouds.items() if word in lowered), None)


def _dmi_provider(sysroot: Sysroot) -> tuple[str, str] | None:
    for field in _DMI_NAMES:
        text = dmi_line(sysroot, field) or ""
        name = provider_in(text)
        if name is not None:
            return name, f"DMI {field}: {text}"
    return None


def _dmi_type(sysroot: Sysroot, provider: str) -> str | None:
    product = dmi_line(sysroot, "product_name") or ""
    if provider not in _TYPE_NAMES_THE_PRODUCT:
        return None
    product = product.removeprefix("SCW-") if provider == "Scaleway" else product
    # Older instances run under Xen, and are all "HVM domU" there.
    return product if _TYPE.fullmatch(product) else None


def parse_instance_data(data: bytes) -> dict[tuple[str, ...], str]:
    """Return the cloud's name, region and instance type by their keys; raise ValueError for what is no JSON object."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"expected JSON, found {error}") from error
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004  # of the file, not of an argument
    paths = (("v1", "cloud_name"), ("v1", "region"), *_TYPE_PATHS)
    found = {path: _at(document, path) for path in paths}
    return {path: text for path, text in found.items() if text is not None and _TYPE.fullmatch(text)}


def _at(document: Any, path: tuple[str, ...]) -> str | None:
    value = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def reduced_instance_data(data: bytes) -> bytes:
    """Return the document with nothing but what discovery reads of it; it also names keys, addresses and hosts."""
    try:
        found = parse_instance_data(data)
    except ValueError:
        return b""
    document: dict[str, Any] = {}
    for path, text in found.items():
        inner = document
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = text
    return msgspec.json.encode(document)


def _instance_data(sysroot: Sysroot) -> dict[tuple[str, ...], str]:
    data = sysroot.answer(INSTANCE_DATA)
    if isinstance(data, Unreadable):
        if not data.missing:
            sysroot.note(INSTANCE_DATA, data.reason)
        return {}
    if not data.strip():
        return {}
    try:
        return parse_instance_data(data)
    except ValueError as error:
        sysroot.note(INSTANCE_DATA, f"malformed: {error}")
        return {}


def read_cloud(sysroot: Sysroot) -> CloudInstance | None:
    """Return the cloud and the instance type; None where no file names a cloud."""
    by_dmi = _dmi_provider(sysroot)
    known = _instance_data(sysroot)
    named = known.get(("v1", "cloud_name")) or sysroot.line(_CLOUD_ID) or ""
    cloud = None if named.lower() in _LOCAL else known_names().cloud_init.get(named.lower())
    if by_dmi is None and cloud is None:
        return None
    provider, evidence = by_dmi or (cloud or "", f"cloud-init: {named}")
    instance_type, source = _dmi_type(sysroot, provider), dmi_path("product_name")
    if instance_type is None:
        path = next((path for path in _TYPE_PATHS if path in known), None)
        instance_type, source = (None, "") if path is None else (known[path], INSTANCE_DATA)
    return CloudInstance(provider, evidence, instance_type, source or None, known.get(("v1", "region")))
