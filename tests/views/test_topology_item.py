"""Parts in a tree: which of them it opens with, and how they are found."""

import pytest

from sizeup.views.machine.topology_item import TopologyItem, holding, unfolding


def part(key: str, *children: TopologyItem, expanded: bool = False) -> TopologyItem:
    return TopologyItem(key, key, (), children, expanded)


def two_by_two() -> TopologyItem:
    nodes = [part(f"node:{n}", part(f"core:{2 * n}"), part(f"core:{2 * n + 1}")) for n in range(2)]
    sockets = [part(f"package:{n}", node) for n, node in enumerate(nodes)]
    return part("machine", *sockets, part("devices", part("nic:eth0"), part("nic:eth1")), expanded=True)


@pytest.mark.parametrize(
    ("rows", "opened"),
    [
        (0, {"machine"}),
        (5, {"machine"}),
        (6, {"machine", "package:0", "package:1"}),
        (7, {"machine", "package:0", "package:1"}),
        (8, {"machine", "package:0", "package:1", "devices"}),
        (11, {"machine", "package:0", "package:1", "devices"}),
        (12, {"machine", "package:0", "package:1", "devices", "node:0", "node:1"}),
        (99, {"machine", "package:0", "package:1", "devices", "node:0", "node:1"}),
    ],
)
def test_whole_kinds_open_from_the_top_down_as_far_as_they_fit(rows: int, opened: set[str]) -> None:
    assert unfolding(two_by_two(), rows) == opened


def test_what_always_opens_does_so_without_room_but_not_inside_what_is_folded() -> None:
    inside = part("cache:3:0", part("core:0"), expanded=True)
    root = part("machine", part("package:0", inside), part("nfs", part("nfs:/a"), expanded=True), expanded=True)

    assert unfolding(root, 0) == {"machine", "nfs"}


def test_parts_of_that_name_are_found_before_parts_of_which_it_is_only_said() -> None:
    core = TopologyItem("core:13", "Core 13", (("Kernel id", "20"),))
    root = TopologyItem("machine", "db01", (("Cores", "20"),), (core, TopologyItem("core:20", "Core 20")))

    assert [item.key for item in holding(root, ["core", "20"])] == ["core:20", "machine", "core:13"]
    assert [item.key for item in holding(root, ["CORE"])] == ["core:13", "core:20", "machine"]
    assert holding(root, []) == ()


def test_words_in_a_row_are_found_before_the_same_words_apart() -> None:
    root = TopologyItem(
        "machine", "db01", (), (TopologyItem("node:0", "Node 0: 10 cores"), TopologyItem("node:1", "Node 1: 8 cores"))
    )

    assert [item.key for item in holding(root, ["node", "1"])] == ["node:1", "node:0"]
