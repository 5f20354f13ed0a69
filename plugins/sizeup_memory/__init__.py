"""Memory latency and bandwidth probes."""
