"""Each way of being fooled is seen by the fact that gives it away."""

import pytest
from msgspec.structs import replace

from plugins.direct_io.evidence import DIRECT_EVIDENCE, GIB, Evidence, direct, physical
from sizeup import units
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.estimates import caveats_of, validity_estimate
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.target import ContentSample, sample_content
from sizeup_direct_io.validity import (
    VERDICT_VALUES,
    Validity,
    check_writers,
)


def test_a_written_file_read_directly_passes() -> None:
    assert direct(DIRECT_EVIDENCE).verdict is Validity.PASS
    assert physical(DIRECT_EVIDENCE).verdict is Validity.PASS


def test_a_cached_file_that_was_left_in_the_page_cache_is_not_passed_for_lack_of_growth() -> None:
    cached = replace(DIRECT_EVIDENCE, alignment=None, charged_bytes=None, cached_before_bytes=GIB * 3 // 4)

    part = direct(cached)

    assert (part.verdict, len(part.reasons)) == (Validity.UNKNOWN, 1)
    assert part.reasons[0].startswith("75 % of the file were in the page cache before the run and were left there")
    assert direct(replace(cached, charged_bytes=GIB)).verdict is Validity.PASS
    assert direct(replace(cached, charged_bytes=0)).verdict is Validity.FAIL
    assert direct(replace(cached, cached_before_bytes=GIB // 4)).verdict is Validity.PASS
    assert direct(replace(cached, cache_growth_bytes=400 << 20)).verdict is Validity.FAIL


def test_what_a_program_in_user_space_does_with_requests_is_unknown() -> None:
    fuse = replace(
        DIRECT_EVIDENCE, file_system="fuse.sshfs", alignment=None, charged_bytes=0, device_bytes=None, extents=None
    )

    assert direct(fuse).verdict is Validity.UNKNOWN
    assert physical(fuse).verdict is Validity.UNKNOWN


def test_where_nothing_is_told_nothing_is_passed() -> None:
    silent = replace(
        DIRECT_EVIDENCE, alignment=None, cache_growth_bytes=None, charged_bytes=None, device_bytes=None, extents=None
    )

    assert direct(silent).verdict is Validity.UNKNOWN
    assert physical(silent).verdict is Validity.UNKNOWN


@pytest.mark.parametrize(
    "fooled",
    [
        pytest.param(replace(DIRECT_EVIDENCE, alignment=(0, 0), charged_bytes=0, cache_growth_bytes=0), id="tmpfs"),
        pytest.param(
            replace(DIRECT_EVIDENCE, alignment=(0, 0), charged_bytes=GIB // 100, cache_growth_bytes=100 << 20),
            id="journaled",
        ),
        pytest.param(replace(DIRECT_EVIDENCE, cache_growth_bytes=400 << 20), id="buffered"),
        pytest.param(replace(DIRECT_EVIDENCE, charged_bytes=0), id="sparse"),
        pytest.param(replace(DIRECT_EVIDENCE, alignment=(0, 0)), id="no alignment"),
    ],
)
def test_what_does_not_go_past_the_cache_is_not_direct(fooled: Evidence) -> None:
    assert direct(fooled).verdict is Validity.FAIL


def test_the_alignment_alone_proves_nothing_where_nothing_was_charged() -> None:
    part = direct(replace(DIRECT_EVIDENCE, charged_bytes=0))

    assert part.reasons == (
        "direct I/O with 512-byte alignment",
        "the page cache did not grow",
        "only 0 % of the requested bytes were counted by the block layer",
    )


@pytest.mark.parametrize(("share", "margin"), [(0.004, ""), (0.005, " (±0 %)"), (0.02, " (±2 %)")])
def test_the_uncertainty_of_the_counters_is_told_from_half_a_percent_on(share: float, margin: str) -> None:
    evidence = replace(DIRECT_EVIDENCE, requested_bytes=1_000_000, charged_bytes=1_000_000)
    found = direct(replace(evidence, uncertainty_bytes=round(share * 1_000_000))).reasons

    assert f"100 %{margin} of the requested bytes were counted by the block layer" in found


@pytest.mark.parametrize(
    "fooled",
    [
        replace(DIRECT_EVIDENCE, extents=Extents(0, 0, GIB, 0, 0)),
        replace(DIRECT_EVIDENCE, extents=Extents(0, GIB, 0, 0, 1)),
        replace(DIRECT_EVIDENCE, path_limit=1e8),
        replace(DIRECT_EVIDENCE, device_bytes=GIB // 2),
    ],
    ids=["sparse", "unwritten", "above the path", "unseen by the device"],
)
def test_what_no_device_delivered_is_not_physical(fooled: Evidence) -> None:
    assert physical(fooled).verdict is Validity.FAIL


@pytest.mark.parametrize(
    "doubtful",
    [
        replace(DIRECT_EVIDENCE, small_read_p50_ns=3_000),
        replace(DIRECT_EVIDENCE, rotating_disks=8),
        replace(DIRECT_EVIDENCE, path_bandwidth=TargetBandwidth(4e8, "nvme0: link")),
        replace(DIRECT_EVIDENCE, device_bytes=2 * GIB),
        replace(DIRECT_EVIDENCE, extents=Extents(GIB // 2, 0, 0, GIB // 2, 9)),
    ],
    ids=["too fast", "faster than a disk turns", "above the way", "shared device", "compressed"],
)
def test_what_looks_like_a_cache_is_doubted(doubtful: Evidence) -> None:
    assert physical(doubtful).verdict is Validity.WARN


def test_two_million_iops_within_the_bandwidth_of_the_path_are_no_sign_of_a_cache() -> None:
    fast = replace(
        DIRECT_EVIDENCE, iops=2.4e6, bytes_per_second=2.4e6 * 4096, path_bandwidth=TargetBandwidth(14.2e9, "2 x nvme")
    )
    part = physical(fast)

    assert (part.verdict, part.from_cache) == (Validity.PASS, False)
    assert "9.83 GB/s is within the bandwidth of the path (14.2 GB/s, 2 x nvme)" in part.reasons


def test_fewer_iops_than_a_million_beyond_the_bandwidth_of_the_path_are_one() -> None:
    part = physical(replace(DIRECT_EVIDENCE, iops=9e5, bytes_per_second=9e5 * 8192))

    assert (part.verdict, part.from_cache) == (Validity.WARN, True)


@pytest.mark.parametrize(
    ("changed", "by_bytes", "by_device"),
    [
        ({"charged_bytes": 0.96}, Validity.PASS, Validity.PASS),
        ({"charged_bytes": 0.94}, Validity.FAIL, Validity.PASS),
        ({"charged_bytes": 0.94, "uncertainty_bytes": 0.02}, Validity.PASS, Validity.PASS),
        ({"charged_bytes": 0.92, "uncertainty_bytes": 0.02}, Validity.FAIL, Validity.PASS),
        ({"charged_bytes": 1.04}, Validity.PASS, Validity.PASS),
        ({"charged_bytes": 1.06}, Validity.WARN, Validity.PASS),
        ({"charged_bytes": 1.06, "uncertainty_bytes": 0.02}, Validity.PASS, Validity.PASS),
        ({"charged_bytes": 1.0, "uncertainty_bytes": 0.06}, Validity.UNKNOWN, Validity.PASS),
        ({"device_bytes": 0.94}, Validity.PASS, Validity.FAIL),
        ({"device_bytes": 0.94, "uncertainty_bytes": 0.02}, Validity.PASS, Validity.PASS),
        ({"device_bytes": 0.0}, Validity.PASS, Validity.FAIL),
        ({"device_bytes": 1.5}, Validity.PASS, Validity.PASS),
        ({"device_bytes": 1.51}, Validity.PASS, Validity.WARN),
        ({"cache_growth_bytes": 0.009}, Validity.PASS, Validity.PASS),
        ({"cache_growth_bytes": 0.011}, Validity.FAIL, Validity.PASS),
        ({"small_read_p50_ns": 10_000 / GIB}, Validity.PASS, Validity.PASS),
        ({"small_read_p50_ns": 9_999 / GIB}, Validity.PASS, Validity.WARN),
    ],
)
def test_each_limit_is_where_it_is_said_to_be(
    changed: dict[str, float], by_bytes: Validity, by_device: Validity
) -> None:
    """In shares of the requested bytes."""
    evidence = replace(DIRECT_EVIDENCE, **{name: round(share * GIB) for name, share in changed.items()})

    assert (direct(evidence).verdict, physical(evidence).verdict) == (by_bytes, by_device)


def test_a_path_of_unknown_bandwidth_is_unknown_and_not_passed() -> None:
    part = physical(replace(DIRECT_EVIDENCE, iops=3e6, bytes_per_second=24e9, path_bandwidth=None))

    assert (part.verdict, part.from_cache) == (Validity.UNKNOWN, False)
    assert "24 GB/s: the bandwidth of the path is unknown; set path_limit to compare with it" in part.reasons


@pytest.mark.parametrize(
    ("iops", "disks", "caveat"),
    [
        (400, 1, ""),
        (4_000, 2, ""),
        (4_100, 2, "4.1 k/s random IOPS exceed what 2 rotating disks can deliver"),
        (60_000, 0, ""),
        (30_000, 1, "30 k/s random IOPS exceed what a rotating disk can deliver"),
        (30_000, 8, "30 k/s random IOPS exceed what 8 rotating disks can deliver"),
    ],
)
def test_random_iops_are_compared_with_what_rotating_disks_can_deliver(iops: float, disks: int, caveat: str) -> None:
    part = physical(replace(DIRECT_EVIDENCE, iops=iops, rotating_disks=disks))

    assert tuple(caveat.text for caveat in part.caveats) == (
        (f"{caveat}: a cache, or flash that reports itself as rotating",) if caveat else ()
    )
    assert not part.from_cache


def test_disks_that_are_unknown_are_not_passed() -> None:
    part = physical(replace(DIRECT_EVIDENCE, device_bytes=None, file_system="btrfs"))

    assert part.verdict is Validity.UNKNOWN
    assert part.reasons[-1] == "the disks beneath the target are unknown, and with them their caches"


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (replace(DIRECT_EVIDENCE, path_limit=1e8), "500 MB/s exceeds the bandwidth of the path (100 MB/s, path_limit)"),
        (
            replace(DIRECT_EVIDENCE, path_bandwidth=TargetBandwidth(4e8, "link of nvme0")),
            "500 MB/s exceeds the bandwidth of the path (400 MB/s, link of nvme0)",
        ),
    ],
    ids=["above the path", "above the way"],
)
def test_a_figure_that_only_a_cache_explains_is_kept_out_of_sizing(evidence: Evidence, reason: str) -> None:
    part = physical(evidence)

    assert tuple(caveat.text for caveat in part.caveats) == (f"{reason}: probably a cache; not used for sizing",)
    assert validity_estimate({}, part).extra["sizing"] == "left out"
    assert "sizing" not in validity_estimate({}, physical(DIRECT_EVIDENCE)).extra


def test_each_reason_stands_beside_the_figure_as_a_caveat_of_its_own() -> None:
    parts = (
        physical(replace(DIRECT_EVIDENCE, bytes_per_second=8e9, small_read_p50_ns=900)),
        direct(DIRECT_EVIDENCE),
    )

    assert caveats_of(parts) == (
        "physical: read latency p50 of 900 ns is that of a cache, not of a device",
        (
            "physical: 8 GB/s exceeds the bandwidth of the path (7.1 GB/s, nvme0: link): probably a cache; not used "
            "for sizing"
        ),
    )


A, B, C, ZERO = (bytes([value]) * 8192 for value in (1, 2, 255, 0))


@pytest.mark.parametrize(
    ("blocks", "sample"),
    [
        pytest.param([A, B, C], ContentSample(3, 0, 0), id="all differ"),
        pytest.param([ZERO] * 3, ContentSample(3, 3, 0), id="zero"),
        pytest.param([C] * 3, ContentSample(3, 0, 3), id="deallocated blocks of a device that returns ones"),
        pytest.param([ZERO, ZERO, A, A, A, B], ContentSample(6, 2, 3), id="mixed"),
        pytest.param([bytes(8191) + b"x", ZERO], ContentSample(2, 1, 0), id="zero but for its last byte"),
    ],
)
def test_a_sample_counts_blocks_that_are_zero_or_the_same(blocks: list[bytes], sample: ContentSample) -> None:
    assert sample_content(blocks) == sample


@pytest.mark.parametrize(
    ("content", "verdict", "reason"),
    [
        (
            ContentSample(64, 64, 0),
            Validity.FAIL,
            (
                "64 of 64 sampled blocks are zero: reads of deallocated, zeroed or deduplicated blocks may reach no "
                "medium; write data to the whole target first, or set path to a directory"
            ),
        ),
        (ContentSample(64, 0, 64), Validity.FAIL, "64 of 64 sampled blocks are identical: "),
        (ContentSample(64, 62, 0), Validity.FAIL, "62 of 64 sampled blocks are zero: "),
        (ContentSample(8, 8, 0), Validity.FAIL, "8 of 8 sampled blocks are zero: "),
        (ContentSample(64, 32, 0), Validity.WARN, "32 of 64 sampled blocks are zero: "),
        (ContentSample(64, 3, 2), Validity.PASS, "64 blocks that were sampled before the run hold data"),
    ],
)
def test_a_target_without_data_is_not_physical(content: ContentSample, verdict: Validity, reason: str) -> None:
    part = physical(replace(DIRECT_EVIDENCE, content=content))

    assert part.verdict is verdict
    assert any(each.startswith(reason) for each in part.reasons)


UNSEEN = {
    "array": (replace(DIRECT_EVIDENCE, storage_systems=("Fibre Channel array",)), "Fibre Channel array"),
    "controller": (
        replace(DIRECT_EVIDENCE, storage_systems=("RAID controller (megaraid_sas)",)),
        "RAID controller (megaraid_sas)",
    ),
    "hypervisor": (replace(DIRECT_EVIDENCE, virtual=True), "virtual device"),
    "server": (replace(DIRECT_EVIDENCE, file_system="nfs4", extents=None, device_bytes=None), "network file system"),
}


@pytest.mark.parametrize(("evidence", "holder"), UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize(
    ("working_set", "stated", "verdict", "words"),
    [
        (
            1,
            0,
            Validity.WARN,
            (
                "its cache is not visible from this host and may serve the working set of 1 GiB; set cache_size to "
                "the size of that cache and size to 4 times it"
            ),
        ),
        (
            255,
            64,
            Validity.WARN,
            "its cache (64 GiB, cache_size) may serve much of the working set of 255 GiB; set size to 256 GiB or more",
        ),
        (256, 64, Validity.PASS, "its cache (64 GiB, cache_size) holds at most 25 % of the working set of 256 GiB"),
    ],
    ids=["not stated", "stated", "stated, and far exceeded"],
)
def test_a_cache_that_cannot_be_seen_is_a_caveat_with_what_to_do_about_it(
    working_set: int, stated: int, verdict: Validity, words: str, evidence: Evidence, holder: str
) -> None:
    part = physical(replace(evidence, working_set_bytes=working_set * GIB, stated_cache_bytes=stated * GIB))

    assert (part.verdict, part.from_cache) == (verdict, False)
    assert (tuple(caveat.text for caveat in part.caveats) or part.reasons[-1:]) == (f"{holder}: {words}",)


def test_a_stated_cache_of_a_local_disk_counts_too() -> None:
    assert physical(replace(DIRECT_EVIDENCE, stated_cache_bytes=GIB)).verdict is Validity.WARN
    assert physical(replace(DIRECT_EVIDENCE, stated_cache_bytes=GIB // 4)).verdict is Validity.PASS


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.8, Validity.PASS), (0.79, Validity.WARN), (0.51, Validity.WARN), (0.5, Validity.FAIL)]
)
def test_writers_to_one_file_scale_or_stand_in_line(ratio: float, verdict: Validity) -> None:
    assert {check_writers(name, ratio).verdict for name in ("concurrent", "extending")} == {verdict}


@pytest.mark.parametrize("name", ["concurrent", "extending"])
def test_writers_that_were_not_measured_are_unknown_with_the_reason(name: str) -> None:
    part = check_writers(name, None, "the file system is full")

    assert (part.verdict, part.reasons) == (Validity.UNKNOWN, ("the file system is full",))


def test_the_users_word_about_the_way_counts_before_discoverys() -> None:
    part = physical(replace(DIRECT_EVIDENCE, path_limit=1e9, path_bandwidth=TargetBandwidth(4e8, "nvme0: link")))

    assert part.verdict is Validity.PASS


def test_a_verdict_reads_the_same_on_the_screen_as_in_the_record() -> None:
    assert {validity: units.format_verdict(value) for validity, value in VERDICT_VALUES.items()} == {
        validity: validity.value for validity in Validity
    }


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"uncertainty_bytes": GIB // 20}, Validity.PASS),
        ({"uncertainty_bytes": GIB // 20 + 1000}, Validity.UNKNOWN),
        ({"charged_bytes": GIB * 95 // 100 + 1}, Validity.PASS),
        ({"charged_bytes": GIB * 95 // 100 - 1}, Validity.FAIL),
        ({"charged_bytes": GIB * 105 // 100}, Validity.PASS),
        ({"charged_bytes": GIB * 105 // 100 + 1}, Validity.WARN),
        ({"charged_bytes": GIB * 94 // 100, "uncertainty_bytes": GIB // 50}, Validity.PASS),
        ({"charged_bytes": GIB * 106 // 100, "uncertainty_bytes": GIB // 50}, Validity.PASS),
        ({"cache_growth_bytes": GIB // 100}, Validity.PASS),
        ({"cache_growth_bytes": GIB // 100 + 1}, Validity.FAIL),
        ({"requested_bytes": 1 << 20, "charged_bytes": 1 << 20, "cache_growth_bytes": 1 << 20}, Validity.PASS),
        ({"requested_bytes": 1 << 20, "charged_bytes": 1 << 20, "cache_growth_bytes": (1 << 20) + 1}, Validity.FAIL),
        ({"charged_bytes": None, "cached_before_bytes": GIB // 2}, Validity.PASS),
        ({"charged_bytes": None, "cached_before_bytes": GIB // 2 + 1}, Validity.UNKNOWN),
    ],
)
def test_limits_of_what_is_direct(changed: dict[str, int | None], verdict: Validity) -> None:
    assert direct(replace(DIRECT_EVIDENCE, **changed)).verdict is verdict


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"content": ContentSample(60, 3, 0)}, Validity.WARN),
        ({"content": ContentSample(60, 2, 2)}, Validity.PASS),
        ({"content": ContentSample(60, 0, 3)}, Validity.WARN),
        ({"content": ContentSample(60, 57, 0)}, Validity.FAIL),
        ({"content": ContentSample(60, 56, 4)}, Validity.WARN),
        ({"small_read_p50_ns": 10_000}, Validity.PASS),
        ({"small_read_p50_ns": 9_999}, Validity.WARN),
        ({"path_limit": 5e8}, Validity.PASS),
        ({"path_limit": 4.9e8}, Validity.FAIL),
        ({"path_bandwidth": TargetBandwidth(4.9e8, "nvme0: link")}, Validity.WARN),
        ({"path_limit": 6e8, "path_bandwidth": TargetBandwidth(4.9e8, "nvme0: link")}, Validity.PASS),
        ({"rotating_disks": 30}, Validity.PASS),
        ({"rotating_disks": 29}, Validity.WARN),
        ({"device_bytes": GIB * 3 // 2}, Validity.PASS),
        ({"device_bytes": GIB * 3 // 2 + 1}, Validity.WARN),
        ({"device_bytes": GIB * 95 // 100 + 1}, Validity.PASS),
        ({"device_bytes": GIB * 95 // 100 - 1}, Validity.FAIL),
        ({"device_bytes": GIB * 94 // 100, "uncertainty_bytes": GIB // 50}, Validity.PASS),
        ({"device_bytes": None}, Validity.UNKNOWN),
        ({"stated_cache_bytes": GIB // 4}, Validity.PASS),
        ({"stated_cache_bytes": GIB // 4 + 1}, Validity.WARN),
        ({"storage_systems": ("iSCSI array",)}, Validity.WARN),
        ({"storage_systems": ("iSCSI array",), "stated_cache_bytes": GIB // 4}, Validity.PASS),
        ({"virtual": True}, Validity.WARN),
        ({"file_system": "nfs4", "device_bytes": None}, Validity.WARN),
        ({"extents": Extents(GIB - 1, 1, 0, 0, 1)}, Validity.FAIL),
        ({"extents": Extents(GIB - 1, 0, 1, 0, 1)}, Validity.FAIL),
        ({"extents": Extents(GIB - 1, 0, 0, 1, 1)}, Validity.WARN),
    ],
)
def test_limits_of_what_is_physical(changed: dict[str, object], verdict: Validity) -> None:
    assert physical(replace(DIRECT_EVIDENCE, **changed)).verdict is verdict
