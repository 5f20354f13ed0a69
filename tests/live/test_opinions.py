"""Other libraries may disagree; then both figures are shown and the kernel's is kept."""

from msgspec.structs import replace

from sizeup.discovery.machine import discover
from sizeup.live.opinions import Opinion, disagreements, psutil_opinions


def test_agreement_is_no_finding_and_disagreement_shows_both() -> None:
    same = Opinion("psutil", "cores", "2", "2", agrees=True)
    other = Opinion("psutil", "cores", "24", "2", agrees=False)

    assert disagreements((same,)) == ()
    (finding,) = disagreements((same, other))
    assert finding.evidence == ("cores: 2 in the kernel's files, 24 from psutil",)


def test_psutil_is_asked_about_threads_cores_and_memory() -> None:
    machine = discover("/")

    assert [opinion.what for opinion in psutil_opinions(machine)] == ["threads online", "cores", "memory in bytes"]
    assert any(not opinion.agrees for opinion in psutil_opinions(replace(machine, pus=())))
