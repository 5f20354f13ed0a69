"""Probe of the network path to another host."""
