"""Sessions of many servers as one table: a row per host, the hosts that stand out, and what they differ in."""
