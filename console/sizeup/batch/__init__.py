"""The run without a screen: progress on stderr, results on stdout."""
