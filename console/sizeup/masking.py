"""Stable pseudonyms for serials, addresses and names: for capture and for sharing."""
