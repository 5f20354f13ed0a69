"""The run without a screen: narration on stderr, results on stdout."""
