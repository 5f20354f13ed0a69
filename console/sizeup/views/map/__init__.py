"""A machine as a map: boxes, bands and frames of cells."""
