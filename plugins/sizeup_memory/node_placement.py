"""Memory on chosen nodes and pages: how it is asked for, and where its pages were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sizeup_memory.binding import Allocation, Pages, Placement, PlacementPolicy
from sizeup_memory.cpu_selection import MIN_PLACED_SHARE

_MIN_HUGE_SHARE = 0.95
PAGES = {"thp": Pages.THP, "4k": Pages.BASE, "hugetlb-2m": Pages.HUGE2M}
"""The kinds of pages by their names in settings."""


def unknown_pages(name: str) -> str:
    """Return why a setting names no kind of pages; empty if it does."""
    return "" if name in PAGES else f"expected pages among {', '.join(PAGES)}, found {name!r}"


def node_memory(node: int, nodes: Mapping[int, Sequence[int]], pages: Pages) -> Allocation:
    """Return memory bound to one node, with a CPU to touch it from if mbind is forbidden."""
    cpus = nodes.get(node)
    return Allocation(pages, PlacementPolicy.BIND, (node,), cpus[0] if cpus else None)


def placement_figures(placement: Placement, nodes: Iterable[int]) -> tuple[dict[str, str | int | float], list[str]]:
    """Return where the pages were, as extra figures, and the caveats about it."""
    requested = tuple(nodes)
    share = placement.share_on(requested)
    extra: dict[str, str | int | float] = {
        "pages": placement.pages,
        "share_where_asked": share,
        "pages_on_nodes": placement.nodes_text,
        "huge_page_share": placement.huge_share,
    }
    if not placement.verified:
        return extra, ["page placement not verified: move_pages and numa_maps are denied"]
    caveats = [] if share >= MIN_PLACED_SHARE else [f"only {share:.1%} of the pages are on the requested node"]
    if not placement.bound:
        caveats.append("placed by first touch: mbind is forbidden")
    return extra, caveats


def page_caveats(pages: Pages, placement: Placement) -> list[str]:
    """Return a caveat if too little memory is on the requested kind of pages."""
    if pages is Pages.THP and placement.huge_share < _MIN_HUGE_SHARE:
        return [f"only {placement.huge_share:.0%} of the memory is on transparent huge pages"]
    return []
