"""What a machine is, as sections, tree and facts; whether sizeup can work on it."""
