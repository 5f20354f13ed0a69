"""Licenses: what is licensed, how many a machine requires, what they cost, what they permit, and alternatives."""
