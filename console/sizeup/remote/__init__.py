"""Measure other hosts over the system's OpenSSH, and bring their sessions here."""
