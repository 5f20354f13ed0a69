"""Parsers of the text that the kernel writes under ``/proc`` and ``/sys``: each format in one place."""
