"""The wheels that fit a host, by their names."""

import io
import tarfile
from pathlib import Path

import pytest

from sizeup.errors import RefusedError, UsageError
from sizeup.remote.wheels import HostDescription, archive, choose, fits, wheel_names

DEBIAN_12 = HostDescription((3, 11), "x86_64", "2.36")
RHEL_8 = HostDescription((3, 12), "x86_64", "2.28")
ALPINE = HostDescription((3, 13), "x86_64", "")
GRAVITON = HostDescription((3, 11), "aarch64", "2.34")


@pytest.mark.parametrize(
    ("tags", "fitting"),
    [
        ("py3-none-any", {DEBIAN_12, RHEL_8, ALPINE, GRAVITON}),
        ("py2.py3-none-any", {DEBIAN_12, RHEL_8, ALPINE, GRAVITON}),
        ("py312-none-any", {RHEL_8, ALPINE}),
        ("cp311-abi3-manylinux_2_28_x86_64", {DEBIAN_12, RHEL_8}),
        ("cp312-abi3-manylinux_2_28_x86_64", {RHEL_8}),
        ("cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64", {DEBIAN_12}),
        ("cp36-abi3-manylinux2010_x86_64", {DEBIAN_12, RHEL_8}),
        ("cp312-cp312-manylinux_2_34_x86_64", set()),
        ("cp311-abi3-manylinux_2_34_x86_64", {DEBIAN_12}),
        ("cp311-abi3-musllinux_1_2_x86_64", {ALPINE}),
        ("cp311-abi3-manylinux_2_28_aarch64", {GRAVITON}),
        ("cp311-abi3-linux_x86_64", {DEBIAN_12, RHEL_8, ALPINE}),
        ("cp27-cp27mu-manylinux1_x86_64", set()),
        ("cp311-abi3-macosx_11_0_arm64", set()),
        ("pp311-pypy311_pp73-manylinux_2_17_x86_64", set()),
    ],
)
def test_a_wheel_fits_by_python_machine_type_and_c_library(tags: str, fitting: set[HostDescription]) -> None:
    hosts = (DEBIAN_12, RHEL_8, ALPINE, GRAVITON)

    assert {host for host in hosts if fits(f"x-1.0-{tags}.whl", host)} == fitting


def test_one_folder_serves_hosts_of_several_kinds() -> None:
    names = [
        "sizeup-0.2.0-cp311-abi3-manylinux_2_28_aarch64.whl",
        "sizeup-0.2.0-cp311-abi3-manylinux_2_28_x86_64.whl",
        "sizeup-0.2.0-py3-none-any.whl",
        "msgspec-1-cp311-cp311-manylinux_2_17_x86_64.whl",
        "msgspec-1-cp312-cp312-manylinux_2_17_x86_64.whl",
        "rich-15-py3-none-any.whl",
    ]

    assert choose(names, RHEL_8) == [names[1], names[4], names[5]]
    with pytest.raises(RefusedError, match=r"no wheel of msgspec fits Python 3\.11, aarch64, glibc 2\.34"):
        choose(names, GRAVITON)


def test_the_viewer_alone_measures_nothing() -> None:
    with pytest.raises(RefusedError, match="no wheel of sizeup fits"):
        choose(["sizeup-0.2.0-py3-none-any.whl"], DEBIAN_12)


def test_a_folder_without_sizeup_is_refused_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "rich-15-py3-none-any.whl").touch()

    with pytest.raises(UsageError, match="1 wheels and no sizeup among them"):
        wheel_names(str(tmp_path))
    with pytest.raises(UsageError, match="No such file"):
        wheel_names(str(tmp_path / "absent"))


def test_a_wheel_that_is_a_link_is_sent_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"content")
    (tmp_path / "x-1.0-py3-none-any.whl").symlink_to("store")

    content = archive(str(tmp_path), ["x-1.0-py3-none-any.whl"])

    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        assert [member.isfile() for member in tar] == [True]


def test_a_wheel_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "x-1.0-py3-none-any.whl").symlink_to("nothing")

    with pytest.raises(UsageError, match=r"cannot read x-1.0-py3-none-any.whl: No such file"):
        archive(str(tmp_path), ["x-1.0-py3-none-any.whl"])
