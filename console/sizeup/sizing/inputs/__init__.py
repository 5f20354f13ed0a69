"""Where sizing takes its inputs from: the machine, measurements, published cases."""
