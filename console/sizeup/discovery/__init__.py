"""Sysroot to Machine."""
