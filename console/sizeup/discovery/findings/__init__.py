"""What the user of this machine should know: pure functions from one machine, or from two looks at it."""
