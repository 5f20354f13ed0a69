"""What others do to the same files while the console shows them, and what strangers may have put into them."""

import re
from collections.abc import Callable
from pathlib import Path

from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS, Terminal
from trees import machine
from typed import start_null, wait_ended


def test_two_consoles_on_one_store_keep_apart(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as one, sizeup() as two:
        start_null(one, 2000)
        start_null(two, 2000)
        wait_ended(one, 2000)
        wait_ended(two, 2000)
        two.press("5")
        two.wait_for("Sessions")
        for terminal in (one, two):
            terminal.press("q")
            assert terminal.wait() == 0
    sessions = [read_session(str(path)) for path in (tmp_path / "sizeup/sessions").iterdir()]
    assert [session.end is not None and session.end.status for session in sessions] == ["complete"] * 2
    assert [sum(len(point.values) for point in session.steps["null"].points.values()) for session in sessions] == [
        2000,
        2000,
    ]


_HOSTILE = "[/dev/sda] [none] [bold red]x[/] \x1b]0;owned\x07\x1b[5m \u202egnp.exe \\[red] $(id) 100%"


def test_names_of_hardware_are_text_and_nothing_else(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    device = "/sys/devices/pci0000:00/0000:00:05.0/virtio0/block/vda"
    network = "/sys/devices/pci0000:00/0000:00:06.0/net/e[b]\x1b[5m0"
    root = machine(
        tmp_path / "root",
        "2-sockets-smt",
        f"/proc/sys/kernel/hostname = {_HOSTILE}",
        f"/proc/cpuinfo = processor\\t: 0\\nvendor_id\\t: GenuineIntel\\nmodel name\\t: {_HOSTILE}\\n",
        "/sys/block/vda -> ../devices/pci0000:00/0000:00:05.0/virtio0/block/vda",
        f"{device}/size = 4096",
        f"{device}/device/model = {_HOSTILE}",
        f"{device}/queue/scheduler = {_HOSTILE}",
        f"{network}/address = 02:00:00:00:00:01",
        f"{network}/operstate = {_HOSTILE}",
        "/sys/class/net/e[b]\x1b[5m0 -> ../../devices/pci0000:00/0000:00:06.0/net/e[b]\x1b[5m0",
    )
    with sizeup("--sysroot", root, columns=200) as terminal:  # room for the name of the host, which goes whole or not
        terminal.wait_for("Detected")
        seen = ""
        for mode in "12345":
            terminal.press(mode)
            terminal.wait_quiet()
            for _ in range(12):
                seen += terminal.text
                terminal.press("j", *(["l"] if mode == "2" else []))
                terminal.wait_quiet(0.05)
        terminal.press("y", "P")
        assert terminal.pump(PATIENCE_SECONDS, lambda: len(list(tmp_path.glob("sizeup-*"))) == 2)
        terminal.press("q")

        assert terminal.wait() == 0
        assert "[/dev/sda] [none] [bold red]x[/]" in seen
        assert b"\x1b]0;" not in terminal.output
        assert not re.search(rb"\x1b\[5m", bytes(terminal.output))
        assert "\u202e" not in terminal.output.decode()
    kept = [path.read_text() for path in tmp_path.glob("sizeup-*")]
    assert len(kept) == 2
    assert not any("\x1b" in text or "\u202e" in text for text in kept)
