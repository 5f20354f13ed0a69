"""The workload in a sentence, where CPU time is all that is known of it."""

import pytest

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import complete
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.rules import shipped
from sizeup.views.result.basis import basis_text


def test_files_are_named_once() -> None:
    iops = Quantity(400.0, "1/s", Origin.IMPORTED, "a.txt: one interval, an average")
    size, redo = (Quantity(1e9, "bytes", Origin.IMPORTED, name) for name in ("a.txt", "a.txt.old"))

    found = basis_text({"workload.iops": iops, "db.gb": size, "redo.mb_s": redo})
    assert found.endswith("(a.txt: one interval, an average; a.txt.old)")


def test_the_mean_size_of_a_request_is_rounded_once() -> None:
    """260 MB/s in 19,500 requests a second are 13,333 bytes, 13.0208 KiB; by 13,300 they were 12.9883."""
    values = {**complete({}, shipped()), **parse_settings(["workload.iops=19500", "workload.mb_s=260"])}

    assert "13.02 KiB on average" in basis_text(values)
    streams = parse_settings(["workload.mb_s=300", "workload.sequential_mb_s=40"])
    assert "13.02 KiB on average" in basis_text({**values, **streams}), "sequential I/O is no part of it"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (("workload.cpu_percent=65",), "65 % CPU (entered)"),
        (("workload.cpu_cores=13.2",), "13.2 busy cores (entered)"),
        (("workload.cpu_cores=1",), "1 busy core (entered)"),
        (
            ("workload.cpu_cores=2", "workload.growth_percent=30"),
            "2 busy cores, growth not counted without a horizon (workload.horizon_years) (entered)",
        ),
        (("workload.cpu_cores=2", "workload.growth_percent=0"), "2 busy cores (entered)"),
        (
            ("workload.iops=400", "workload.io_kib=8", "redo.mb_s=1", "workload.cpu_percent=65"),
            "400 IOPS (8 KiB), 1 MB/s redo (entered)",
        ),
    ],
)
def test_a_workload_of_cpu_time_alone_says_so(settings: tuple[str, ...], text: str) -> None:
    assert basis_text(parse_settings(settings)) == text


def test_requests_of_which_nothing_else_is_recorded_stand_alone() -> None:
    rate = Quantity(50.0, "1/s", Origin.USER, "typed")

    assert basis_text({"workload.iops": rate}).startswith("50 IOPS, redo not given")
