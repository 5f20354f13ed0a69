"""A probe that measures nothing: it tests the runner and shows its floor."""
