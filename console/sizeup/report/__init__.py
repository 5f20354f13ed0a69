"""Views to text, JSON, Markdown, HTML and SVG."""
