"""The card of each resource: what it is, what was measured, what it must carry."""
