# Shared memory may take all of a node.
mount -o remount,size=100% /dev/shm
