"""What happens in a network namespace for test_nfs_shaped.py: python nfs_shaped_inside.py FILE ADDRESS..."""

import hashlib
import json
import sys

from msgspec.structs import replace

from fakes import HandContext
from lab.nfs_clients_inside import PIECE_BYTES, by_library
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate
from sizeup_direct_io.target import TargetSpec, open_target
from sizeup_nfs import probe
from sizeup_nfs.libnfs import Connection, Share, find_library

SETTINGS = {"connections": 4, "requests": 16, "seconds": 2.0, "rounds": 4, "stall": 60.0}


def main(file: str, *addresses: str) -> None:
    def open_here(address: str) -> probe.NfsFile:
        """The kernel's client reads the file where it is: only libnfs is compared."""
        share = Share(address, "/export", "/data.dbf", 1 << 20, "version=4&rsize=1048576&nfsport=12049")
        target = replace(open_target(TargetSpec(file, writes=False)), path=address)
        return probe.NfsFile(target, 1, share, 1)

    probe.open_file = open_here
    opened, library = open_here(addresses[0]), find_library()
    connection = Connection(library, opened.share)
    read, digest = by_library(library, connection), hashlib.sha256()
    for offset in range(0, opened.target.size_bytes, PIECE_BYTES):
        digest.update(read(PIECE_BYTES, offset))
    connection.close()
    settings = {**SETTINGS, "path": addresses[0], "more_paths": ":".join(addresses[1:])}
    step = Step("nfs.clients", "nfs.clients", "", settings, 1.0, 600.0)
    emitted = list(probe.NfsClients().run(step, HandContext()))
    found = [
        {"series": one.series, **one.at, "value": one.value, "low": one.low, "high": one.high, **one.extra}
        for one in emitted
        if isinstance(one, Estimate)
    ]
    print(json.dumps({"hash": digest.hexdigest(), "found": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
