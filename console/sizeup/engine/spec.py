"""What a run is asked to do: the console and the command line make the same request."""

from __future__ import annotations

from msgspec import Struct

from sizeup.model.plan import Gentle


class RunSpec(Struct, frozen=True, kw_only=True):
    """One run, settings still as typed: the engine checks them against the manifests before it starts."""

    plan: str = "standard"
    probes: tuple[str, ...] = ()
    """Empty for all that the plan holds."""
    assignments: tuple[str, ...] = ()
    """``PROBE.KEY=VALUE``."""
    mount: str = ""
    """The directory on which the plan measures storage; empty for a plan without storage."""
    rounds: int = 1
    output: str | None = None
    """A file, ``-`` for standard output, None for a new file of the store."""
    append: str | None = None
    resume: str | None = None
    """The session that is completed; its own plan is used."""
    start_at: str | None = None
    """Seconds since 1970; None to begin when ready."""
    control: bool = False
    """Whether commands are taken from standard input."""
    only_builtin: bool = False
    gentle: Gentle | None = None
    """The caps of a run beside a live database, whose CPU is chosen at its start; None for full load."""
    full_load: bool = False
    """Whether the command line asks for full load on a busy host; a run of the engine is what ``gentle`` says."""
    cancel_on_hang_up: bool = False
    """Whether the loss of the terminal cancels it; a runner that is started by ``options`` is configured by itself."""

    def options(self) -> list[str]:
        """Return the options of ``sizeup --batch`` that ask for this run."""
        found = ["--control"] if self.control else []
        if self.resume is not None:
            return [*found, "--resume", self.resume]
        found += ["--plan", self.plan]
        for probe in self.probes:
            found += ["-p", probe]
        for assignment in self.assignments:
            found += ["--set", assignment]
        if self.mount:
            found += ["--mount", self.mount]
        if self.rounds != 1:
            found += ["--repeat", str(self.rounds)]
        for flag, value in (("-o", self.output), ("--append", self.append), ("--start-at", self.start_at)):
            found += [] if value is None else [flag, value]
        if (caps := self.gentle) is not None:
            found += ["--gentle", "--gentle-iops", f"{caps.iops}", "--gentle-mb-s", f"{caps.bytes_per_second / 1e6}"]
        found += ["--full-load"] if self.full_load else []
        return [*found, "--only-builtin"] if self.only_builtin else found
