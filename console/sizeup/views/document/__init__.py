"""A session or a sizing as a document of chapters."""
