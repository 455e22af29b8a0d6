"""Guard: who may talk to the web page, and who may change something.

Reading is for whoever reaches the port, which is this machine unless told otherwise; a Host header
that is not ours is refused, so that a page elsewhere cannot read through a name that it makes point
here (DNS rebinding). Writing needs the token shown at start-up, and an Origin that is ours.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence

from fastapi import Request, Response

from treasure.web.problems import Problem, answer

TOKEN_HEADER = "X-Treasure-Token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""What our own pages may load: what we serve, and nothing else."""
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a stored page may do: nothing. No scripts, no forms, no network, an origin of its own."""


class Guard:
    """Checks hosts, origins and tokens."""

    def __init__(self, hosts: Sequence[str], token: str = "") -> None:
        self.hosts = frozenset(host.lower() for host in hosts)
        self.token = token or secrets.token_urlsafe(18)

    async def __call__(
        self, request: Request, proceed: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Refuse foreign hosts; add the headers that keep browsers careful."""
        if self._host(request.headers.get("host", "")) not in self.hosts:
            detail = "This address is not served here. Use the one that `treasure ui` printed."
            return answer(421, detail)
        response = await proceed(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("X-Frame-Options", "DENY")
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def writer(self, request: Request) -> None:
        """Let a change pass that comes from our own page or with no page, and has the token."""
        origin = request.headers.get("origin")
        # Our own origin is where the request went: another port of this machine is another site.
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            raise Problem(403, "Changes are only taken from our own page, not from another site.")
        given = request.headers.get(TOKEN_HEADER, "")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            raise Problem(
                401, f"A change needs the token that `treasure ui` printed, as {TOKEN_HEADER}."
            )

    @staticmethod
    def _host(value: str) -> str:
        if value.startswith("["):
            return value.partition("]")[0][1:].lower()
        return value.partition(":")[0].lower()
