"""The cloud and the instance type, from DMI and from what cloud-init kept; no network."""

import json
from pathlib import Path

import pytest

from sizeup.discovery.virtualization import INSTANCE_DATA, reduced_instance_data
from sizeup.model.machine import CloudInstance, Machine
from sizeup.report.machine import machine_text
from trees import discovered

DMI = "/sys/class/dmi/id"
NOTHING = "/proc/meminfo = MemTotal: 1 kB\n"
EC2 = f"{DMI}/sys_vendor = Amazon EC2\n{DMI}/product_name = m5.2xlarge\n"
AZURE = f"{DMI}/chassis_asset_tag = 7783-7084-3265-9085-8269-3286-77\n{DMI}/product_name = Virtual Machine\n"


def instance_data(document: object) -> str:
    return f"{INSTANCE_DATA} = {json.dumps(document)}\n"


CASES: dict[str, tuple[str, CloudInstance | None]] = {
    "type in DMI": (
        EC2,
        CloudInstance("Amazon EC2", "DMI sys_vendor: Amazon EC2", "m5.2xlarge", f"{DMI}/product_name"),
    ),
    "bare metal": (
        EC2.replace("m5.2xlarge", "m5.metal"),
        CloudInstance("Amazon EC2", "DMI sys_vendor: Amazon EC2", "m5.metal", f"{DMI}/product_name"),
    ),
    "Xen, type from cloud-init": (
        f"{DMI}/sys_vendor = Xen\n{DMI}/product_name = HVM domU\n{DMI}/product_version = 4.11.amazon\n"
        + instance_data(
            {"v1": {"cloud_name": "aws", "region": "eu-west-1"}, "ds": {"meta_data": {"instance-type": "t2.micro"}}}
        ),
        CloudInstance("Amazon EC2", "DMI product_version: 4.11.amazon", "t2.micro", INSTANCE_DATA, "eu-west-1"),
    ),
    "Azure by its asset tag": (
        AZURE
        + instance_data(
            {"v1": {"cloud_name": "azure"}, "ds": {"meta_data": {"imds": {"compute": {"vmSize": "Standard_E8s_v5"}}}}}
        ),
        CloudInstance(
            "Microsoft Azure", "DMI chassis_asset_tag: 7783-7084-3265-9085-8269-3286-77", "Standard_E8s_v5",
            INSTANCE_DATA,
        ),
    ),
    "Google names no type": (
        f"{DMI}/sys_vendor = Google\n{DMI}/product_name = Google Compute Engine\n",
        CloudInstance("Google Compute Engine", "DMI product_name: Google Compute Engine"),
    ),
    "cloud-init alone, no DMI": (
        NOTHING
        + instance_data(
            {"v1": {"cloud_name": "aliyun"}, "ds": {"meta_data": {"instance": {"instance-type": "ecs.g7"}}}}
        ),
        CloudInstance("Alibaba Cloud", "cloud-init: aliyun", "ecs.g7", INSTANCE_DATA),
    ),
    "the name alone": (
        f"{NOTHING}/run/cloud-init/cloud-id = aws\n",
        CloudInstance("Amazon EC2", "cloud-init: aws"),
    ),
    "a disk of the site": (NOTHING + instance_data({"v1": {"cloud_name": "nocloud"}}), None),
    "a server": (f"{DMI}/sys_vendor = Dell Inc.\n{DMI}/product_name = PowerEdge R750\n", None),
    "nothing": (NOTHING, None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_cloud_and_type_come_from_files(tmp_path: Path, case: str) -> None:
    tree, expected = CASES[case]

    assert discovered(tmp_path, tree).platform.cloud == expected


@pytest.mark.parametrize(
    "hostile",
    [
        "[]", "{", "null", '{"v1": 3, "ds": []}', '{"ds": {"meta_data": {"instance-type": {"a": 1}}}}',
        '{"ds": {"meta_data": {"instance-type": "redacted for non-root user"}}}',
        '{"ds": {"meta_data": {"instance-type": "x; reboot"}}}', "[" * 5000, '{"v1": {"cloud_name": "' + "a" * 5000,
    ],
)  # fmt: skip
def test_instance_data_that_says_something_else_leaves_the_type_unknown(tmp_path: Path, hostile: str) -> None:
    machine = discovered(tmp_path, f"{AZURE}{INSTANCE_DATA} = {hostile}\n")

    assert machine.platform.cloud.instance_type is None
    assert "instance type unknown" in " ".join(machine_text(machine).split())


def test_a_document_that_is_none_is_a_gap(tmp_path: Path) -> None:
    machine = discovered(tmp_path, f"{AZURE}{INSTANCE_DATA} = [\n")

    assert [gap.subject for gap in machine.gaps if gap.reason.startswith("malformed")] == [INSTANCE_DATA]


def test_provider_and_type_are_shown(tmp_path: Path) -> None:
    assert "  cloud         Amazon EC2, m5.2xlarge" in machine_text(discovered(tmp_path, EC2)).splitlines()


def test_what_is_no_document_is_reduced_to_nothing() -> None:
    assert reduced_instance_data(b"password: x") == b""


def test_a_device_tree_names_the_product(tmp_path: Path) -> None:
    machine: Machine = discovered(tmp_path, "/proc/device-tree/model = Example Board\n/proc/meminfo = MemTotal: 1 kB\n")

    assert machine.platform.model == "Example Board"
