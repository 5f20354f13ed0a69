"""Who may open the console: one browser, with the token that ``sizeup serve`` prints, under a name of this machine."""

from __future__ import annotations

import hmac
import re
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from sizeup.web.page import HEADERS

COOKIE = "sizeup-visitor"


class AuthGate:
    """Admits the first browser that brings the printed token, and then that browser alone."""

    def __init__(self, token: str) -> None:
        self._token: str | None = token
        self._visitor = secrets.token_urlsafe(32)

    def exchange(self, token: str) -> str | None:
        """Return the visitor's cookie for the token, once; None for anything else."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        self._token = None
        return self._visitor

    def admits(self, cookie: str) -> bool:
        """Whether this is the visitor who brought the token."""
        return self._token is None and hmac.compare_digest(cookie.encode(), self._visitor.encode())

    def middleware(self) -> Middleware:
        """Return the check before every request, static files and the WebSocket included."""

        @web.middleware
        async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
            token = request.query.get("token")
            if token is not None and request.path == "/" and _opens_page(request):
                cookie = self.exchange(token)
                if cookie is not None:
                    # Away from the address with the token, so that no history or screenshot holds it.
                    answer = web.Response(status=303, headers={"Location": "/", **HEADERS})
                    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="Strict", path="/")
                    return answer
            if not self.admits(request.cookies.get(COOKIE, "")):
                return web.Response(
                    status=403,
                    text="This console opens for one browser, with the address that sizeup serve printed, once.\n"
                    "Start sizeup serve again for a new one.\n",
                    headers=HEADERS,
                )
            return await handler(request)

        return authenticate


def _opens_page(request: web.Request) -> bool:
    """Whether somebody wants to see it: a HEAD only asks whether it is there, and a prefetch may never be shown."""
    purposes = " ".join(request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"))
    return request.method == "GET" and not re.search("prefetch|prerender|preview", purposes, re.IGNORECASE)


def local_names_only(host: str) -> Middleware:
    """Return a check that refuses other host names: a stranger's name may be made to lead to the loopback address."""
    names = {"localhost", "127.0.0.1", "::1", host}

    @web.middleware
    async def check_name(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.url.host not in names:
            return web.Response(status=421, text="This console is opened as localhost.\n", headers=HEADERS)
        return await handler(request)

    return check_name
