"""Session to tables and charts as values; one view, every renderer."""
