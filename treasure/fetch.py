"""One page from the live web, for commands that need a page before any crawl runs.

Not a crawler: example pages and ``treasure classify URL`` come through here, with the same limits
on size, time, redirects and addresses, and by the same proxy, as in a crawl.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import threading
import zlib
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from treasure.addresses import AddressPolicy, ForbiddenAddressError, addresses_of, proxy_of
from treasure.contact import AGENT, with_contact
from treasure.errors import UserError
from treasure.extract import decode, read_page
from treasure.pages import Page
from treasure.urls import canonical, join

MAX_BYTES = 5_000_000
MAX_HOPS = 5
TIMEOUT_SECONDS = 20.0
"""Longest silence."""
DEADLINE_SECONDS = 60.0
"""Longest time for one page, first byte to last: some servers drip."""


class FetchError(UserError):
    """A page that cannot be had."""


class Fetched(NamedTuple):
    """What came, and from where."""

    url: str
    body: bytes
    content_type: str

    def page(self) -> Page:
        """Read it."""
        return read_page(self.url, decode(self.body, self.content_type))


def fetch_page(url: str, policy: AddressPolicy | None = None, *, contact: str = "") -> Page:
    """Return the page at *url*; raise FetchError when there is none."""
    return fetch_body(url, policy, contact=contact).page()


def fetch_body(url: str, policy: AddressPolicy | None = None, *, contact: str = "") -> Fetched:
    """Return what *url* leads to, as it came; raise FetchError when there is nothing."""
    policy = policy or AddressPolicy()
    agent = with_contact(AGENT, contact)
    for _ in range(MAX_HOPS + 1):
        address = canonical(url)
        if not address:
            raise FetchError(f"{url!r} is no http or https URL.")
        response, body = _get(address, policy, agent)
        location = response.headers.get("Location")
        if 300 <= response.status < 400 and location:
            url = join(address, location)
            continue
        if response.status != 200:
            raise FetchError(f"{address} answered with HTTP status {response.status}.")
        return Fetched(address, body, response.headers.get("Content-Type", ""))
    raise FetchError(f"{url} redirects more than {MAX_HOPS} times.")


def fetch_robots(url: str, policy: AddressPolicy | None = None, *, contact: str = "") -> bytes:
    """Return the robots.txt of the host of *url*; empty when there is none to be had."""
    agent = with_contact(AGENT, contact)
    response, body = _get(join(url, "/robots.txt"), policy or AddressPolicy(), agent)
    return body if response.status == 200 else b""


def _get(url: str, policy: AddressPolicy, agent: str) -> tuple[http.client.HTTPResponse, bytes]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"User-Agent": agent, "Accept": "text/html", "Accept-Encoding": "gzip"}
    proxy = urlsplit(proxy_of(url))
    if proxy.hostname:
        connection = http.client.HTTPConnection(
            proxy.hostname, proxy.port or 80, timeout=TIMEOUT_SECONDS
        )
        if secure:
            connection.set_tunnel(host, port, headers=_password(proxy))
        else:
            path = url
            headers |= _password(proxy)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    deadline = threading.Timer(DEADLINE_SECONDS, lambda: _hang_up(connection.sock))
    deadline.daemon = True
    deadline.start()
    try:
        if proxy.hostname:
            _check(host, policy)
            connection.connect()
        else:
            connection.sock = _connect(host, port, policy)
        if secure:
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response, _body(response, url)
    except (OSError, http.client.HTTPException, ForbiddenAddressError) as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    finally:
        deadline.cancel()
        connection.close()


def _hang_up(sock: socket.socket | None) -> None:
    """End whatever another thread waits for on *sock*."""
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _password(proxy: SplitResult) -> dict[str, str]:
    """Return what a proxy is told that wants to know who asks."""
    if not proxy.username:
        return {}
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"Proxy-Authorization": f"Basic {base64.b64encode(said).decode()}"}


def _check(host: str, policy: AddressPolicy) -> None:
    """Check the addresses of *host* where we can resolve it; a proxy may know more names."""
    with contextlib.suppress(OSError, UnicodeError):
        for address in addresses_of(host):
            policy.check(host, address)


def _connect(host: str, port: int, policy: AddressPolicy) -> socket.socket:
    """Connect to the very address that was checked."""
    error: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        policy.check(host, str(address[0]))
        sock = socket.socket(family, kind, protocol)
        sock.settimeout(TIMEOUT_SECONDS)
        try:
            sock.connect(address)
        except OSError as failure:
            sock.close()
            error = failure
        else:
            return sock
    raise error


def _body(response: http.client.HTTPResponse, url: str) -> bytes:
    raw = response.read(MAX_BYTES + 1)
    if response.headers.get("Content-Encoding", "").lower() == "gzip":
        try:
            raw = zlib.decompressobj(wbits=31).decompress(raw, MAX_BYTES + 1)
        except zlib.error:
            raise FetchError(f"{url} sent a damaged gzip body.") from None
    if len(raw) > MAX_BYTES:
        raise FetchError(f"{url} is larger than {MAX_BYTES:,} bytes.")
    return raw
