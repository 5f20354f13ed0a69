"""The engine goes by the target and by what is allowed, and the reason is told."""

import errno

import pytest

from sizeup.errors import RefusedError
from sizeup_direct_io.worker import Engine, EngineChoice, EnginePolicy, choose, submit_batch

ALL = EnginePolicy({Engine.IO_URING: 0, Engine.AIO: 0, Engine.THREADS: 0}, io_uring_disabled=0)


def denied(**errors: int) -> EnginePolicy:
    by_engine = {engine: errors.get(engine.name, 0) for engine in Engine}
    return EnginePolicy(by_engine, io_uring_disabled=0, aio_in_use=65536, aio_limit=65536)


def test_a_local_target_takes_io_uring() -> None:
    assert choose("auto", ALL, network=False, extending=False) == EngineChoice(Engine.IO_URING, "local target")


@pytest.mark.parametrize(("network", "extending"), [(True, False), (False, True)])
def test_network_targets_and_growing_files_take_linux_aio(network: bool, extending: bool) -> None:
    assert choose("auto", ALL, network=network, extending=extending).engine is Engine.AIO


def test_a_filter_is_told_apart_from_the_switch() -> None:
    seccomp = choose("auto", denied(IO_URING=errno.EPERM), network=False, extending=False)
    switch = choose(
        "auto",
        EnginePolicy({**ALL.errors, Engine.IO_URING: errno.EPERM}, io_uring_disabled=2),
        network=False,
        extending=False,
    )

    assert seccomp == EngineChoice(
        Engine.AIO, "local target; a seccomp filter or security module denies io_uring (EPERM)"
    )
    assert switch == EngineChoice(Engine.AIO, "local target; io_uring is disabled (kernel.io_uring_disabled = 2)")


def test_without_slots_for_aio_threads_do_it() -> None:
    choice = choose("auto", denied(IO_URING=errno.ENOSYS, AIO=errno.EAGAIN), network=False, extending=False)

    assert choice.engine is Engine.THREADS
    assert "fs.aio-nr 65536 of fs.aio-max-nr 65536" in choice.reason


def test_an_engine_asked_for_and_denied_is_refused_with_the_reason() -> None:
    with pytest.raises(RefusedError, match="a seccomp filter or security module denies io_uring"):
        choose("io_uring", denied(IO_URING=errno.EPERM), network=False, extending=False)


def test_oracle_uses_linux_aio() -> None:
    assert choose("oracle-like", ALL, network=False, extending=False).engine is Engine.AIO


@pytest.mark.parametrize(("depth", "batch"), [(1, 4), (12, 4), (32, 10), (64, 21), (128, 32), (1024, 32)])
def test_a_deep_queue_is_submitted_in_thirds(depth: int, batch: int) -> None:
    assert submit_batch(8 << 10, depth) == batch
    assert submit_batch(1 << 20, depth) == 1
