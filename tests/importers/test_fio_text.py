"""What fio prints for people comes in our names and units, and two jobs of one name can be told apart."""

import re

import pytest

from importers.results import caveats, figures, fio_file, fio_job
from sizeup.errors import SizeupError
from sizeup.importers.fio import parse_fio, parse_fio_text


def latencies(kind: str, unit: str, mean: float, p50: int, p99: int) -> str:
    return f"""    slat (nsec): min=4869, max=53730, avg=8644.12, stdev=6803.19
    clat ({unit}): min=35, max=3208, avg={mean - 10:.2f}, stdev=52.37
     lat ({unit}): min=63, max=3213, avg={mean:.2f}, stdev=51.71
    clat percentiles ({unit}):
     |  1.00th=[   89],  5.00th=[  101], 10.00th=[  108], 20.00th=[  116],
     | 30.00th=[  123], 40.00th=[  128], 50.00th=[{p50:5}], 60.00th=[  141],
     | 99.00th=[{p99:5}], 99.50th=[99999], 99.90th=[99999], 99.95th=[99999],
     | 99.99th=[99999]
   bw (  KiB/s): min=215157, max=215157, per=100.00%, avg=215157.00, stdev= 0.00, samples=1
   iops        : min=26894, max=26894, avg=26894.00, stdev= 0.00, samples=1
"""


def result(name: str, group: int, directions: str, reads: int, writes: int, jobs: int = 1, depth: int = 4) -> str:
    return f"""{name}: (groupid={group}, jobs={jobs}): err= 0: pid=7939: Tue Nov 24 12:51:41 2026
{directions}  lat (usec)   : 50=0.11%, 100=4.42%, 250=95.05%, 500=0.34%, 750=0.01%
  cpu          : usr=4.00%, sys=43.90%, ctx=6672, majf=0, minf=20
  IO depths    : 1=0.1%, 2=0.1%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total={reads},{writes},0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth={depth}
"""


def declared(name: str, group: int, rw: str, size: str, depth: int, more: str = "", engine: str = "libaio") -> str:
    sizes = ", ".join(f"({one}) {size}-{size}" for one in "RWT")
    return f"{name}: (g={group}): rw={rw}, bs={sizes}, ioengine={engine}, iodepth={depth}\n{more}"


def run(head: str, processes: int, *results: str) -> str:
    return f"{head}fio-3.33\nStarting {processes} process{'es' * (processes > 1)}\n\n" + "".join(results) + "\n"


# 40,010 in 2,001 ms are 19,995 a second, printed as 20.0k; of 8,192 bytes.
READ = "  read: IOPS=20.0k, BW=156MiB/s (164MB/s)(313MiB/2001msec)\n" + latencies("read", "usec", 148.44, 135, 219)
SIMPLE = run(declared("db", 0, "randread", "8192B", 4), 1, result("db", 0, READ, 40_010, 0))


def test_the_figures_are_those_of_the_counts_and_not_the_rounded_ones() -> None:
    imported = parse_fio_text(SIMPLE, "fio.txt")
    iops = 40_010 / 2.001

    assert imported.tool == "fio-3.33"
    assert figures(imported) == {
        ("iops", "oltp-read", 4): pytest.approx(iops),
        ("rate", "oltp-read", 4): pytest.approx(iops * 8192),
        ("latency-mean", "oltp-read", 4): 148_440.0,
        ("latency-p50", "oltp-read", 4): 135_000.0,
        ("latency-p99", "oltp-read", 4): 219_000.0,
    }
    assert caveats(imported) == {
        "fio's text does not say whether direct=1 was set: the page cache may have served the I/O",
        "fio's percentiles are of clat, without the time to submit, which the mean (lat) has",
    }


@pytest.mark.parametrize(("unit", "scale"), [("nsec", 1), ("usec", 1_000), ("msec", 1_000_000)])
def test_times_are_in_the_unit_that_stands_beside_each(unit: str, scale: int) -> None:
    shown = figures(parse_fio_text(SIMPLE.replace("clat percentiles (usec)", f"clat percentiles ({unit})"), "x"))
    assert (shown["latency-p50", "oltp-read", 4], shown["latency-mean", "oltp-read", 4]) == (135 * scale, 148_440)

    shown = figures(parse_fio_text(SIMPLE.replace(" lat (usec): min", f" lat ({unit}): min"), "x"))
    assert (shown["latency-p50", "oltp-read", 4], shown["latency-mean", "oltp-read", 4]) == (135_000, 148.44 * scale)


def test_processes_of_a_group_are_one_load_with_group_reporting_or_without() -> None:
    head = declared("db", 0, "randread", "8192B", 4, "...\n")
    apart = run(head, 2, *[result("db", 0, READ, 40_010, 0)] * 2)
    grouped = run(head, 2, result("db", 0, READ, 80_020, 0, jobs=2))

    for text, percentiles in ((apart, False), (grouped, True)):
        shown = figures(parse_fio_text(text, "x"))
        assert shown["iops", "oltp-read", 8] == pytest.approx(80_020 / 2.001)
        assert (("latency-p99", "oltp-read", 8) in shown) is percentiles


def test_a_mix_has_the_share_of_reads_that_was_issued_and_an_fsync_is_none_of_it() -> None:
    # 14,002 reads and 5,998 writes in 1 s: 70.01 % are reads.
    mix = (
        "  read: IOPS=14.0k, BW=109MiB/s (115MB/s)(109MiB/1000msec)\n"
        + latencies("read", "usec", 300, 290, 700)
        + "  write: IOPS=5998, BW=46.9MiB/s (49.1MB/s)(46.9MiB/1000msec); 0 zone resets\n"
        + latencies("write", "msec", 12, 11, 30)
        + "  fsync/fdatasync/sync_file_range:\n    sync (usec): min=65, max=196, avg=111.73, stdev=51.95\n"
        "    sync percentiles (usec):\n     |  1.00th=[   67], 50.00th=[   88], 99.00th=[  196]\n"
    )
    imported = parse_fio_text(run(declared("m", 0, "randrw", "8192B", 16), 1, result("m", 0, mix, 14_002, 5_998)), "x")

    assert figures(imported) == {
        ("iops", "oltp-7030", 16): 20_000,
        ("rate", "oltp-7030", 16): 20_000 * 8192,
        ("latency-mean", "oltp-7030 reads", 16): 300_000,
        ("latency-p50", "oltp-7030 reads", 16): 290_000,
        ("latency-p99", "oltp-7030 reads", 16): 700_000,
        ("latency-mean", "oltp-7030 writes", 16): 12_000_000,
        ("latency-p50", "oltp-7030 writes", 16): 11_000_000,
        ("latency-p99", "oltp-7030 writes", 16): 30_000_000,
    }
    assert "fio's text does not have rwmixread: 70 % of the I/Os were reads" in caveats(imported)


def test_reads_and_writes_reported_together_have_no_share_of_reads() -> None:
    mixed = READ.replace("  read:", "  mixed:")
    text = run(declared("db", 0, "randrw", "8192B", 4), 1, result("db", 0, mixed, 40_010, 0))
    shown = figures(parse_fio_text(text, "x"))

    # 19,995 a second at 148.44 us are 2.97 in flight.
    assert shown["iops", "unrecorded-8k", 3] == pytest.approx(40_010 / 2.001)


OLD = """log: (g=0): rw=write, bs=1M-1M/1M-1M/1M-1M, ioengine=sync, iodepth=1
fio-2.2.10
Starting 1 process

log: (groupid=0, jobs=1): err= 0: pid=2345: Tue Jan  5 10:00:00 2016
  write: io=1000.0MB, bw=512000KB/s, iops=500, runt=  2000msec
    clat (usec): min=396, max=1805.8K, avg=1990.69, stdev=152.99
     lat (usec): min=404, max=1805.8K, avg=1998.62, stdev=152.41
    clat percentiles (usec):
     |  1.00th=[  396], 50.00th=[  635], 99.00th=[  783]
    bw (KB  /s): min=69472, max=84880, per=100.00%, avg=76538.00, stdev=2951.42
  cpu          : usr=0.00%, sys=40.00%, ctx=17, majf=0, minf=11
     issued    : total=r=0/w=1000/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
"""


def test_fio_2_counts_in_other_units() -> None:
    assert figures(parse_fio_text(OLD, "old")) == {
        ("iops", "sequential-1m-0r", 1): 500,
        ("rate", "sequential-1m-0r", 1): 500 * 1048576,
        ("latency-mean", "sequential-1m-0r", 1): 1_998_620,
        ("latency-p50", "sequential-1m-0r", 1): 635_000,
        ("latency-p99", "sequential-1m-0r", 1): 783_000,
    }


@pytest.mark.parametrize(
    ("size", "place", "rate"),
    [
        ("bs=(R) 4096B-64.0KiB, (W) 4096B-64.0KiB, (T) 4096B-64.0KiB", "random 4096-65536 100r", 164e6),
        ("bs=(R) 11.7KiB-11.7KiB, (W) 11.7KiB-11.7KiB, (T) 11.7KiB-11.7KiB", "random 11.7KiB 100r", 164e6),
        ("bs=(R) 12.5KiB-12.5KiB, (W) 8192B-8192B, (T) 8192B-8192B", "random-12800b-100r", 40_010 / 2.001 * 12_800),
    ],
)
def test_a_rate_of_several_or_rounded_sizes_is_the_one_that_fio_prints(size: str, place: str, rate: float) -> None:
    shown = figures(parse_fio_text(re.sub(r"bs=.*?(?=, ioengine)", size, SIMPLE, count=1), "x"))

    assert shown["rate", place, 4] == pytest.approx(rate)


TWICE = run(
    declared("db", 0, "randread", "8192B", 4) + declared("db", 1, "randread", "8192B", 16), 2,
    result("db", 0, READ, 40_010, 0), result("db", 1, READ, 50_000, 0, depth=16),
)  # fmt: skip


def test_two_jobs_of_one_name_show_their_depth() -> None:
    job = fio_job()
    deeper = {**job["job options"], "iodepth": "64"}
    of_json = parse_fio(fio_file(job, fio_job(groupid=1, **{"job options": deeper})), "x")
    both = {"Direct I/O, fio job db, oltp-read at QD 16", "Direct I/O, fio job db, oltp-read at QD 64"}

    assert {step.title for step in of_json.steps} == both
    assert {step.title for step in parse_fio_text(TWICE, "x").steps} == {
        "Direct I/O, fio job db, oltp-read at QD 4",
        "Direct I/O, fio job db, oltp-read at QD 16",
    }
    # At the same time each has its own I/Os in flight: 16 and 64, not twice 16.
    together = parse_fio(fio_file(job, fio_job(**{"job options": deeper})), "x")
    assert {step.title for step in together.steps} == both
    assert caveats(together) == {"ran concurrently with other jobs of its group: db"}


def test_results_without_the_lines_above_have_the_load_that_follows_from_them() -> None:
    imported = parse_fio_text(SIMPLE[SIMPLE.index("db: (groupid") :], "x")

    # 164 MB/s in 19,995 a second are 8,202 bytes, next to 8 KiB; 19,995 x 148.44 us are 2.97 in flight.
    assert ("iops", "unrecorded-8k-100r", 3) in figures(imported)
    assert any("access pattern and direct I/O are unknown" in caveat for caveat in caveats(imported))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (SIMPLE[: SIMPLE.index("  IO depths")], "line 5: expected a result with a line 'issued', found none: the"),
        (SIMPLE.replace("total=40010,0,0,0", "total=40"), "line 5: expected a result with a line 'issued', found none"),
        (TWICE[: TWICE.index("db: (groupid=1")], "expected results of 2 jobs, as fio started, found 1: the file"),
        (SIMPLE.replace("read: IOPS", "read: IPOS"), "line 5: expected a result with a line 'read', found none"),
        (SIMPLE + SIMPLE, "expected one run of fio, found 2"),
        (
            run(declared("a", 0, "randread", "8192B", 4) + declared("b", 0, "write", "8192B", 1), 2,
                result("a", 0, READ, 40_010, 0, jobs=2)),
            "expected one size, pattern and iodepth of the jobs in a result, found several",
        ),
        (
            run(declared("a", 0, "randread", "8192B", 4, "...\n") + declared("a", 0, "randread", "8192B", 9), 3,
                *[result("a", 0, READ, 40_010, 0)] * 3),
            "expected one size, pattern and iodepth of the jobs in a result, found several",
        ),
        (run(declared("a", 0, "randread", "8192B", 4), 1, result("a", 0, "", 0, 0)), "at least one fio job that read"),
    ],
)  # fmt: skip
def test_a_text_that_was_cut_or_leaves_the_options_open_is_refused(text: str, what: str) -> None:
    with pytest.raises(SizeupError, match=r"^fio\.txt: ") as refused:
        parse_fio_text(text, "fio.txt")
    assert what in str(refused.value)
