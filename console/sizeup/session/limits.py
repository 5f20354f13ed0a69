"""Size limits for reading session files, which are untrusted input."""

LINE_LIMIT_BYTES = 16 << 20
"""Longer lines are skipped and counted; the machine record of 1,000 LUNs takes about 1 MiB."""
FILE_LIMIT_BYTES = 4 << 30
DECOMPRESSED_LIMIT_BYTES = 1 << 30
"""What a gzip file may unpack to: a kilobyte of it can claim a gigabyte."""
SAMPLES_LIMIT = 20_000_000
"""Samples kept of one file, 17 bytes each; more are counted and left out."""
ITEMS_LIMIT = 100_000
"""Points, steps, findings, notes and so on kept of one file, each."""
