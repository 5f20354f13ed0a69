# Runs in a guest: what sizeup says of it, and what the guest's own tools say, side by side in $OUT.
export PYTHONPATH=/guest/in/site
sizeup() { python3 -m sizeup "$@"; }

sizeup detect --json >"$OUT/detect.json"
sizeup detect >"$OUT/detect.txt"
sizeup capture "$OUT/masked.tar.gz"
sizeup capture --no-mask "$OUT/host.tar.gz"
sizeup detect --json --sysroot "$OUT/host.tar.gz" >"$OUT/again.json"
mkdir -p /tmp/bare/proc
cp /proc/cpuinfo /tmp/bare/proc/
sizeup detect --json --sysroot /tmp/bare >"$OUT/by-cpuinfo.json"
lstopo-no-graphics --of xml >"$OUT/lstopo.xml"
nvme list -o json >"$OUT/nvme.json" || true
nfsstat -m >"$OUT/nfsstat" || true

# One of two FC paths loses its link, and a port is made that never had one.
if [ "${1:-}" = hba ]; then
    ip link add fcx mtu 2500 address 02:00:00:00:fc:20 type veth peer name fcxp
    echo fcx >/sys/module/libfcoe/parameters/create_vn2vn
    ip link set fct1 down
    n=0
    until [ "$(grep -l Linkdown /sys/class/fc_host/*/port_state | wc -l)" = 3 ] || [ $n = 60 ]; do sleep 1; n=$((n + 1)); done
    sizeup detect --json >"$OUT/down.json"
fi

# A node full of shared memory: what the kernel counts with its page cache and cannot give back.
if [ "${1:-}" = pages ]; then
    free=$(awk '/MemFree/ {print int($4 / 1024)}' /sys/devices/system/node/node0/meminfo)
    total=$(awk '/MemTotal/ {print int($4 / 1024)}' /sys/devices/system/node/node0/meminfo)
    numactl --membind=0 dd if=/dev/zero of=/dev/shm/fill bs=1M count=$((free - total * 3 / 100)) status=none
    sizeup detect --json >"$OUT/filled.json"
    rm /dev/shm/fill
fi

# Only where the profile is about memory: fill node 0 to 97 %, then let node 1 grow.
if [ "${1:-}" = cyclops ]; then
    sync # a page cache that is reclaimed while the node fills would leave more than 3 % of it free
    echo 1 >/proc/sys/vm/drop_caches
    free=$(awk '/MemFree/ {print int($4 / 1024)}' /sys/devices/system/node/node0/meminfo)
    total=$(awk '/MemTotal/ {print int($4 / 1024)}' /sys/devices/system/node/node0/meminfo)
    numactl --membind=0 dd if=/dev/zero of=/dev/shm/fill bs=1M count=$((free - total * 3 / 100)) status=none
    sizeup detect --json >"$OUT/filled.json"
    sizeup detect --json --since "$OUT/detect.json" >"$OUT/since.json"
    rm /dev/shm/fill
    sizeup detect --json >"$OUT/emptied.json"
    numactl --membind=1 dd if=/dev/zero of=/dev/shm/grown bs=1M count=256 status=none
    sizeup detect --json --since "$OUT/emptied.json" >"$OUT/grown.json"
fi
