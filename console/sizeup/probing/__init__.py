"""Machine and probes to samples."""
