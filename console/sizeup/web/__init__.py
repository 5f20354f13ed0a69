"""The console in a browser: a page, a token, and a pseudo-terminal for each visitor."""
