"""Samples to the log, and back."""
