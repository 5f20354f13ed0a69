"""Charts as values, their axes and text alternatives, and their renderers to character cells and SVG."""
