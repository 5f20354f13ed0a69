"""Statistics of two sets of sessions, and of two machines."""
