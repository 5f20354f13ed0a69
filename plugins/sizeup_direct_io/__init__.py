"""Direct I/O probe."""
