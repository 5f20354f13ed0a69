"""The errors that sizeup raises on purpose, each with its exit status."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit status of the process."""

    OK = 0
    PROBE_FAILED = 1
    USAGE = 2
    REFUSED = 3
    LATE = 4
    DIFFERENT = 5
    UNDECIDED = 6
    COMMAND_FAILED = 7
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143

    @property
    def meaning(self) -> str:
        """Return what this status says, in one line."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitStatus.OK: "success; a result may be not valid: the summary and --json say so",
    ExitStatus.PROBE_FAILED: "a probe failed",
    ExitStatus.USAGE: "invalid arguments, or a file or standard output that cannot be read or written",
    ExitStatus.REFUSED: "refused: unsafe target, no permission, or not applicable on this machine",
    ExitStatus.LATE: "the start time of the run has passed",
    ExitStatus.DIFFERENT: "session compare --fail-if: a condition is met; detect --against: the machines differ; "
    "drift: a fact drifted; fleet --profile: a host misses a limit",
    ExitStatus.UNDECIDED: "session compare --fail-if: no condition is met, but one could not be decided; "
    "session rank: no figure has enough like machines; drift: nothing drifted, but a fact is unknown on one side; "
    "fleet --profile: no host misses a limit, but one is undecided or a file could not be read",
    ExitStatus.COMMAND_FAILED: "experiment: one of the commands failed",
    ExitStatus.HANGUP: "terminal lost (SIGHUP); the session is saved",
    ExitStatus.INTERRUPTED: "interrupted (SIGINT); the session is saved",
    ExitStatus.TERMINATED: "terminated (SIGTERM); the session is saved",
}


class SizeupError(Exception):
    """One clear line for the user: what, where, expected, found, what to do."""

    status = ExitStatus.PROBE_FAILED


class UsageError(SizeupError):
    """The request cannot be understood or met as written."""

    status = ExitStatus.USAGE


class RefusedError(SizeupError):
    """The request is understood, but must not or cannot run on this machine."""

    status = ExitStatus.REFUSED


class LateError(SizeupError):
    """The start time has passed; a run that starts late would distort those of other hosts."""

    status = ExitStatus.LATE


class CommandError(SizeupError):
    """A command that the user gave failed."""

    status = ExitStatus.COMMAND_FAILED


def needs_linux(reason: str) -> str:
    """Return what to say where only Linux will do, and why this system is none."""
    return (
        f"this needs Linux: {reason}. Measure and describe a machine on itself. Here, sessions can be shown: "
        "sizeup FILE, sizeup session show, compare or export; and sized: sizeup size --machine FILE"
    )


class MalformedError(SizeupError):
    """A file was read, but its content is not what its format requires."""

    status = ExitStatus.USAGE
