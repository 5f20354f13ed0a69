"""Other tools' files to records or a workload."""
