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


@pytest.mark.parametrize("text", ["0-99999999999", "0-8192", "-1", "a-b", "1--2", "9" * 5000])
def test_lists_that_no_kernel_writes_are_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a list of ids below 8192, such as 0-3,8, found '"):
        parse_cpulist(text)


def test_of_a_list_as_many_spans_are_read_as_every_second_id_takes() -> None:
    assert parse_cpulist(",".join(map(str, range(0, 8192, 2)))) == tuple(range(0, 8192, 2))
    assert parse_cpulist("0," * 4096 + "1") == (0,)


def test_a_mask_that_is_none_is_refused_with_what_was_expected() -> None:
    with pytest.raises(ValueError, match=r"^expected a mask such as 00000000,000000ff, found 'many'$"):
        parse_cpumask("many")


def test_lists_are_written_as_the_kernel_writes_them() -> None:
    assert format_list((0, 1, 2, 5, 7, 8)) == "0-2,5,7-8"
