"""Two machines, runs or sessions beside each other."""
