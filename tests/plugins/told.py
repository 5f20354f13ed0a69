"""A stand-in for the library of the memory probes: what it is told, by field, and a figure of its own for a point."""

from typing import Any

from sizeup_memory import binding

ffi, lib = binding.ffi, binding.lib
GIB = 1 << 30


def median_of(index: int) -> float:
    """Return the estimate of a point."""
    return 1000.0 + index


def _value(kind: Any, value: Any) -> Any:
    if kind.kind != "struct":
        return value
    return {name: _value(field.type, getattr(value, name)) for name, field in kind.fields if field.type.kind != "array"}


class Told:
    """Calls that measure, by name, with arrays and structures as plain values."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "sizeup_job_estimate":
            return self._estimate
        if name == "sizeup_available_bytes":
            return lambda *_: 64 * GIB
        if name.endswith(("_run", "_fill")):
            return lambda *arguments: self._note(name, arguments)
        return getattr(lib, name)

    def of(self, name: str) -> list[list[Any]]:
        """Return the arguments of each call."""
        return [arguments for called, arguments in self.calls if called == name]

    def _estimate(self, job: Any, index: int, estimate: Any) -> None:
        del job
        estimate.median = estimate.low = estimate.high = estimate.minimum = median_of(index)
        estimate.replicates, estimate.converged = 5, 1

    def _note(self, name: str, arguments: tuple[Any, ...]) -> int:
        plain: list[Any] = []
        for argument in arguments:
            kind = ffi.typeof(argument) if isinstance(argument, ffi.CData) else None
            if kind is None:
                plain.append(argument)
            elif kind.kind == "array":
                plain.append([_value(kind.item, one) for one in argument])
            elif "stop_rule" in kind.cname or "arena_spec" in kind.cname:
                plain.append(_value(kind.item, argument[0]))
            else:
                plain.append(None)
            if kind is not None and "hammer_result" in kind.cname:
                for at, one in enumerate(argument):
                    one.ops, one.wall_us, one.end_ns, one.cpu_ns, one.cpu = (
                        1000 * (at + 1),
                        2000,
                        2_000_000,
                        2_000_000,
                        at,
                    )
        self.calls.append((name, plain))
        return 0
