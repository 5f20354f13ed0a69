"""I/O: demand of the workload, capacity of paths and arrays, and the balance of the two."""
