"""What changes while we look: rates and hot-plug events."""
