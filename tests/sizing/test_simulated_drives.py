"""Arrays after the loss of a drive against a simulation: every request of rotating stripes, counted on every drive."""

from fractions import Fraction
from statistics import fmean

import pytest

from sizing.sized import card
from tiers import one_in

TOLERANCE = 1e-9
"""The simulation makes every request once, and random ones hit each alike, so that nothing but rounding differs."""
UNEVEN = 1.06
"""With RAID 6 the neighbors of the lost drive, whose other neighbor never has its parity, work up to this much more."""
READ_IOPS, WRITE_IOPS = 1000, 250
"""Of one drive; they differ so that operations of the wrong kind show."""
PARITY = {"5": 1, "6": 2}


class Operations:
    """Reads and writes that each drive of one group serves, drive 0 lost."""

    def __init__(self, drives: int) -> None:
        self.reads = [Fraction()] * drives
        self.writes = [Fraction()] * drives

    def read(self, *drives: int, times: Fraction = Fraction(1)) -> None:
        for drive in drives:
            self.reads[drive] += times

    def write(self, *drives: int) -> None:
        for drive in drives:
            self.writes[drive] += 1


def of_pairs(done: Operations, drives: int, *, written: bool) -> int:
    """Make one request to each of the pairs of RAID 10; return how many they are."""
    for first in range(0, drives, 2):
        alive = {first, first + 1} - {0}
        if written:
            done.write(*alive)
        else:
            done.read(*alive, times=Fraction(1, len(alive)))
    return drives // 2


def of_stripes(done: Operations, drives: int, parity: int, *, written: bool) -> int:
    """Make one request to each block of data of as many stripes as there are drives; return how many they are."""
    for first in range(drives):
        stripe = [(first + offset) % drives for offset in range(drives)]
        checks, data = stripe[:parity], stripe[parity:]
        alive = [drive for drive in checks if drive]
        for block in data:
            others = [drive for drive in data if drive not in (block, 0)]
            if not block:  # of a lost block the rest of the stripe is read; a write makes all of its parity anew
                done.read(*others)
                if written:
                    done.write(*checks)
                else:
                    done.read(*checks, times=Fraction(1, parity))  # each parity in turn
            elif not written:
                done.read(block)
            else:  # a small write reads the old data and parity; without any parity left there is nothing to read for
                if alive:
                    done.read(block, *alive)
                done.write(block, *alive)
    return drives * (drives - parity)


def simulated(level: str, drives: int, groups: int, reads: float, iops: float) -> list[float]:
    """Return the share of its time that each drive works of the group that lost its drive 0; the others do less."""
    each, work = iops / groups, [0.0] * drives
    for written, part in ((False, reads), (True, 1 - reads)):
        done = Operations(drives)
        if level == "10":
            made = of_pairs(done, drives, written=written)
        else:
            made = of_stripes(done, drives, PARITY[level], written=written)
        for drive in range(drives):
            seconds = float(done.reads[drive]) / READ_IOPS + float(done.writes[drive]) / WRITE_IOPS
            work[drive] += seconds * each * part / made
    assert work[0] == 0  # it is lost
    return work[1:]


@pytest.mark.parametrize(("drives", "groups"), [(4, 1), (4, 3), (8, 1), (12, 2), (24, 1), (48, 1)])
@pytest.mark.parametrize("level", one_in(3, ["10", "5", "6"]))
def test_the_share_after_a_lost_drive_is_that_of_simulated_requests(level: str, drives: int, groups: int) -> None:
    """By hand, RAID 5 of 4, all reads: of 12 blocks 3 are lost and read the 3 others, so each drive serves 3 + 3 of 12.

    That is 2/n of the reads. All writes: 3 lost blocks read 2 others and write 1; of the 9 others 3 have lost their
    parity and write 1, and 6 read 2 and write 2: 18 reads and 18 writes on 3 drives, 6 of each for 12 writes.
    """
    array = (f"array.disks={drives}", f"array.volumes={groups}", f"array.raid={level}", "array.drive_mb_s=99999")
    speed = (f"array.drive_iops={READ_IOPS}", f"array.drive_write_iops={WRITE_IOPS}")
    iops = 10 * drives * groups
    for percent in (100, 60, 0):
        found = card("storage", f"workload.iops={iops}", f"workload.read_percent={percent}", *array, *speed)

        work = simulated(level, drives, groups, percent / 100, iops)
        busiest = fmean(work) if level == "6" else max(work)
        assert found.n_plus_one == pytest.approx(max(busiest, found.share), rel=TOLERANCE)  # never below N
        assert max(work) <= UNEVEN * found.n_plus_one
