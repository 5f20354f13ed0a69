"""What the manifests of the probes that are installed declare, for sessions that a test makes by hand."""

from collections.abc import Mapping
from functools import cache

from sizeup.model.plan import Declaration, Series
from sizeup.probing.registry import Registry, load_registry


@cache
def _registry() -> Registry:
    return load_registry()


def series_of(probe: str) -> Mapping[str, Series]:
    """The series of a probe by name, as a step records them."""
    return {series.name: series for series in _registry().get(probe).series}


def declaration_of(probe: str) -> Declaration:
    """What is recorded with a step of a probe beside its series."""
    return _registry().get(probe).manifest.declaration()
