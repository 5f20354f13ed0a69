"""sizeup: what a Linux server is, should carry, and does."""

__version__ = "0.2.0"
