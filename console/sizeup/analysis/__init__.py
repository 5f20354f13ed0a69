"""Sessions to findings and comparisons."""
