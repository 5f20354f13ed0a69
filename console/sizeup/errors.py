"""The few errors that sizeup raises on purpose; each carries the exit status it deserves."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process tells its caller."""

    OK = 0
    PROBE_FAILED = 1
    USAGE = 2
    """Also an unreadable or newer session, and output that cannot be written."""
    REFUSED = 3
    """Unsafe target, no permission, or a probe that does not apply here."""
    LATE = 4
    DIFFERENT = 5
    """A comparison found a difference that was asked about: a condition of ``--fail-if`` is met."""
    UNDECIDED = 6
    """No condition of ``--fail-if`` is met, but at least one could not be decided."""
    HANGUP = 129
    """SIGHUP: the terminal has gone."""
    INTERRUPTED = 130
    TERMINATED = 143


class SizeupError(Exception):
    """One clear line for the user: what, where, expected, found, what to do."""

    status = ExitStatus.PROBE_FAILED


class UsageError(SizeupError):
    """The request cannot be understood or met as written."""

    status = ExitStatus.USAGE


class RefusedError(SizeupError):
    """The request is understood and must not, or cannot, run here."""

    status = ExitStatus.REFUSED


class LateError(SizeupError):
    """An agreed start time has passed: a run that begins late would spoil those of others."""

    status = ExitStatus.LATE


class MalformedError(SizeupError):
    """A file exists and was read, but does not say what its kind must say."""

    status = ExitStatus.USAGE
