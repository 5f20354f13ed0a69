"""For authors of probes: templates, and the check of a plug-in before it is installed."""
