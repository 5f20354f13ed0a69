"""Classes and functions that a module imports at its head and does not use at once: loaded when they are used."""

from __future__ import annotations

import importlib
import sys
from abc import ABC, ABCMeta
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any


class _Name(ABCMeta):
    """Stands for a class or a function until it is called, asked for an attribute, or tested against.

    A class derived from one meanwhile is put on the real base as soon as that is there.
    """

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        real = cls._loaded()
        return super().__call__(*arguments, **options) if real is cls else real(*arguments, **options)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        real = cls._loaded()
        return super().__getattribute__(name) if real is cls else getattr(real, name)

    def __instancecheck__(cls, value: object) -> bool:
        real = cls._loaded()
        return super().__instancecheck__(value) if real is cls else isinstance(value, real)

    def __subclasscheck__(cls, other: type) -> bool:
        real = cls._loaded()
        return super().__subclasscheck__(other) if real is cls else issubclass(other, real)

    def _loaded(cls) -> Any:
        for base in cls.__mro__:
            module = vars(base).get("stands_in")
            if module is not None:
                real = module.load(base.__name__)
                return real if base is cls else cls
        return cls


class _Later(ModuleType):
    """Stands for a module while another one imports names from it."""

    def __init__(self, name: str, classes: Collection[str]) -> None:
        super().__init__(name)
        self._classes = classes
        self._names: dict[str, _Name] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._classes:
            return self.load(name)
        if name not in self._names:
            self._names[name] = _Name(name, (ABC,), {"stands_in": self})
        return self._names[name]

    def load(self, name: str) -> Any:
        """What the module really has by that name."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        for standing in self._names.values():
            real = getattr(module, standing.__name__)
            derived: type
            for derived in standing.__subclasses__():
                with suppress(TypeError):  # laid out unlike this one: the derived class is of no use, all else is
                    derived.__bases__ = tuple(real if base is standing else base for base in derived.__bases__)
        return getattr(module, name)


@contextmanager
def later(modules: Mapping[str, Collection[str]]) -> Iterator[None]:
    """Inside, to import these classes and functions from these modules loads nothing.

    Another name of theirs loads its module as ever, and so does whoever imports it afterwards.
    """
    standing = {name: _Later(name, classes) for name, classes in modules.items() if name not in sys.modules}
    sys.modules.update(standing)
    try:
        yield
    finally:
        for name, module in standing.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
