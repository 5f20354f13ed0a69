for node in /sys/devices/system/node/node[0-9]*; do echo 32 >$node/hugepages/hugepages-2048kB/nr_hugepages; done
