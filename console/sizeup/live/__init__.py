"""What changes while we look: load, clock and hot-plug events."""
