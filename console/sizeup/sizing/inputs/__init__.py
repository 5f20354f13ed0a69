"""Where sizing takes its inputs from: the machine, measurements, workload files, published cases, what was typed."""
