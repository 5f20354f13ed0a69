"""The page that a browser shows, and its files: the terminal in it is that of textual-serve."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sizeup.errors import UsageError

HEADERS = {
    # The browser itself refuses whatever a page might fetch from elsewhere. xterm.js sets styles of its own.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

REPORT_HEADERS = {
    **HEADERS,
    # It has no scripts.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
}

REPORT = "/report"

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="/static/css/xterm.css">
<link rel="icon" href="data:,">
<style>
html, body {{ margin: 0; height: 100%; background: #121212; color: #e0e0e0; overflow: hidden; }}
main, #terminal {{ height: 100%; }}
#closed {{ display: none; position: absolute; inset: 0; padding: 3em; background: #121212; font: 16px monospace; }}
body.-closed #closed {{ display: block; }}
#closed a {{ color: inherit; }}
</style>
<script src="/static/js/textual.js"></script>
<script src="/focus.js"></script>
<body>
<main>
<div id="terminal" class="textual-terminal" data-session-websocket-url="{websocket}" data-font-size="14"></div>
<div id="closed">The console has ended. Reload this page for another, or read the <a href="/report">report</a>.</div>
</main>
</body>
</html>
"""


FOCUS_SCRIPT = """// Keys reach the terminal without a click first; textual.js makes it once the page is loaded.
window.addEventListener("load", () => setTimeout(() => document.querySelector("textarea").focus(), 0));
"""


def assets() -> Path:
    """textual-serve's files for the browser; the module itself is never imported."""
    spec = importlib.util.find_spec("textual_serve")
    folders = spec.submodule_search_locations if spec is not None else None
    folder = Path(folders[0], "static") if folders else None
    if folder is None or not (folder / "js/textual.js").is_file():
        raise UsageError("textual-serve is installed without the files it serves; install it again")
    return folder
