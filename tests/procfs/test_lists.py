"""CPU lists and masks as the kernel writes them."""

import pytest

from sizeup.procfs.lists import format_list, parse_cpulist, parse_cpumask


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ()),
        ("0-3,8", (0, 1, 2, 3, 8)),
        ("0-12:4", (0, 4, 8, 12)),
        ("0-7:2/4", (0, 1, 4, 5)),
        ("3,1-2\n", (1, 2, 3)),
    ],
)
def test_kernel_lists_may_carry_strides(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpulist(text) == cpus


@pytest.mark.parametrize(
    ("text", "cpus"), [("0", ()), ("f", (0, 1, 2, 3)), ("1,00000000", (32,)), ("0x00000005", (0, 2))]
)
def test_masks_come_in_groups_of_32_bits_highest_first(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpumask(text) == cpus


@pytest.mark.parametrize("text", ["0-99999999999", "-1", "a-b", "1--2"])
def test_lists_that_no_kernel_writes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|invalid"):
        parse_cpulist(text)


def test_lists_are_written_as_the_kernel_writes_them() -> None:
    assert format_list((0, 1, 2, 5, 7, 8)) == "0-2,5,7-8"
