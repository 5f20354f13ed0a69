"""The user's configuration: ``config.toml`` and the ``SIZEUP_*`` environment variables.

Each key is the default of a command-line option. A typed option wins over the environment variable, which wins over
the file, which wins over the default here. Only the command line reads the configuration; other modules receive
values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from sizeup.decoding import convert, parse_toml, read_beside
from sizeup.errors import UsageError
from sizeup.input_file import read_text
from sizeup.text import nearest, one_line

PREFIX = "SIZEUP_"
FILE_VARIABLE = "SIZEUP_CONFIG"
"""The variable that names another file than the one in the XDG configuration directory."""

KEYS_TABLE = "keys"
"""The table that assigns keys to the console's actions, ``"run.start" = "f5,r"``; the console knows their names."""

_BYTES_LIMIT = 1 << 20
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")

Value = str | bool


class ConfigKey(Struct, frozen=True, forbid_unknown_fields=True):
    """One configuration key."""

    name: str
    """In the file: ``console.theme`` is ``theme`` in the table ``[console]``."""
    default: Value
    help: str
    option: str = ""
    """The option of the command line that wins over it; empty where there is none."""
    choices: tuple[str, ...] = ()
    """The allowed values; empty for a switch."""

    @property
    def variable(self) -> str:
        """The environment variable: ``SIZEUP_CONSOLE_THEME``."""
        return PREFIX + self.name.replace(".", "_").replace("-", "_").upper()

    @property
    def expectation(self) -> str:
        """Return what a value must be: ``true or false``, ``one of quick, standard, full``."""
        return "true or false" if isinstance(self.default, bool) else f"one of {', '.join(self.choices)}"


KEYS: tuple[ConfigKey, ...] = tuple(
    convert({"name": name, **table}, ConfigKey) for name, table in read_beside(__file__, "config_keys.toml").items()
)
"""Every key, in the order of the list."""

_KNOWN = {key.name: key for key in KEYS}


class Setting(Struct, frozen=True):
    """The value of a key and where it comes from."""

    value: Value
    source: str
    """The file, the variable or the option."""


class Configuration(Struct, frozen=True):
    """The configuration that was read."""

    settings: Mapping[str, Setting]
    """By key name; only the keys that are set."""
    keymap: Mapping[str, str]
    """Keys by action, from the file's ``[keys]``."""
    path: str
    """The file that was looked for."""
    found: bool
    """Whether it is there."""
    unknown_variables: tuple[str, ...] = ()
    """Variables that start with ``SIZEUP_`` and are no key."""

    def text(self, name: str) -> str:
        """Return the value of a key that has choices."""
        return str(self._value(name))

    def switch(self, name: str) -> bool:
        """Return the value of a key that is true or false."""
        return bool(self._value(name))

    def _value(self, name: str) -> Value:
        setting = self.settings.get(name)
        return setting.value if setting is not None else _KNOWN[name].default


def default_path(environment: Mapping[str, str]) -> str:
    """``$XDG_CONFIG_HOME/sizeup/config.toml``, or below ``~/.config``, as the XDG base directory specification says."""
    base = environment.get("XDG_CONFIG_HOME", "")
    # A relative path is to be ignored, says the specification.
    if not os.path.isabs(base):
        base = os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(base, "sizeup", "config.toml")


def load(environment: Mapping[str, str], typed: Mapping[str, str | None] | None = None) -> Configuration:
    """Read the file and the environment; raise ``UsageError`` with the file or variable that is wrong.

    ``typed`` holds option values by key, None where the option was not given; they win.
    """
    named = environment.get(FILE_VARIABLE)
    path = named or default_path(environment)
    text = None
    if named or os.path.lexists(path):
        what = f"the configuration file named by {FILE_VARIABLE}" if named else "a configuration file"
        text = read_text(path, what, _BYTES_LIMIT)
    settings, keymap = parse(text, path) if text is not None else ({}, {})
    for key in KEYS:
        if key.variable in environment:
            settings[key.name] = Setting(_from_text(key, environment[key.variable], key.variable), key.variable)
        given = (typed or {}).get(key.name)
        if given is not None:
            settings[key.name] = Setting(_from_text(key, given, key.option), key.option)
    # No error: a service called sizeup puts SIZEUP_PORT and its like into the environment of every container.
    prefixed = {variable for variable in environment if variable.startswith(PREFIX)}
    unknown = prefixed - {key.variable for key in KEYS} - {FILE_VARIABLE}
    return Configuration(settings, keymap, path, text is not None, tuple(sorted(unknown)))


def parse(text: str, path: str) -> tuple[dict[str, Setting], dict[str, str]]:
    """Return the settings of one file by key name, and its keyboard keys by action; errors start with ``path``."""
    settings, keymap = {}, {}
    for name, value in _flat(parse_toml(text, path, "a configuration in TOML")):
        table, _, action = name.partition(".")
        if table == KEYS_TABLE:
            if not isinstance(value, str) or not value:
                raise UsageError(f'{path}: {one_line(name, 60)}: expected keys such as "f5", found {value!r}')
            keymap[action] = value
            continue
        if name not in _KNOWN:
            hint = nearest(name, _KNOWN)
            raise UsageError(f"{path}: unknown key {one_line(name, 60)!r}{hint}; see: sizeup doctor --keys")
        # A switch must be a boolean here.
        key, where = _KNOWN[name], f"{path}: {name}"
        if not isinstance(value, bool | str) or isinstance(value, bool) is not isinstance(key.default, bool):
            raise UsageError(f"{where}: expected {key.expectation}, found {one_line(repr(value), 60)}")
        settings[name] = Setting(value if isinstance(value, bool) else _from_text(key, value, where), path)
    return settings, keymap


def _flat(tables: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    """Return nested tables as dotted names; the TOML reader's own recursion limits the depth."""
    flat: list[tuple[str, object]] = []
    for name, value in tables.items():
        flat += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return flat


def _from_text(key: ConfigKey, text: str, where: str) -> Value:
    if isinstance(key.default, bool) and text.lower() in _TRUE + _FALSE:
        return text.lower() in _TRUE
    if text in key.choices:
        return text
    raise UsageError(f"{where}: expected {key.expectation}, found {one_line(repr(text), 60)}")
