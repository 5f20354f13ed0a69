"""Machine, measurements, workload and rules to advice, every step shown."""
