"""A hostile web on loopback: what real crawls meet, one path and one host each.

    with HostileServer() as server:
        server.url("/endless")

Every handler writes raw bytes to the connection. Each case has an address of its own in
127.0.1.0/24: what one host does must not hold up another. ``HEALTHY`` pages must all be fetched in
the end, whatever the others do.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import ssl
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import brotli
import zstandard
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Handler = Callable[["Connection"], Awaitable[None]]
HANDLERS: dict[str, Handler] = {}
HEALTHY = [f"/healthy/{number}" for number in range(8)]
STARS = "Telescopes show stars, planets, comets and galaxies to every astronomer. " * 6


class Connection:
    """One request and the ways to answer it wrongly."""

    def __init__(self, writer: asyncio.StreamWriter, path: str, server: HostileServer) -> None:
        self.writer = writer
        self.path = path
        self.server = server
        self.host = str(writer.get_extra_info("sockname")[0])

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, *headers: str, status: str = "200 OK", html: bool = True) -> None:
        lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
        if html:
            lines.append("Content-Type: text/html; charset=utf-8")
        await self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    async def page(self, body: str | bytes, *headers: str, status: str = "200 OK") -> None:
        raw = body.encode() if isinstance(body, str) else body
        await self.head(f"Content-Length: {len(raw)}", *headers, status=status)
        await self.send(raw)

    async def forever(self, chunk: bytes, pause: float = 0.0, most: int = 400_000_000) -> None:
        sent = 0
        while sent < most:
            await self.send(chunk)
            sent += len(chunk)
            await asyncio.sleep(pause)

    def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def serves(path: str) -> Callable[[Handler], Handler]:
    """Register a handler for *path*."""

    def register(handler: Handler) -> Handler:
        HANDLERS[path] = handler
        return handler

    return register


def document(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{STARS}{body}</p>"


@serves("/")
async def index(c: Connection) -> None:
    paths = [path for path in HANDLERS if path not in {"/", "/robots.txt"}] + HEALTHY
    links = " ".join(f'<a href="{c.server.url(path)}">stars {path}</a>' for path in paths)
    odd = "".join(f'<a href="{href}">odd</a>' for href in [*ODD_LINKS, *c.server.elsewhere])
    await c.page(document("Index", links + odd))


ODD_LINKS = [
    "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://127.0.0.1/x",
    "http://", "http:///path", "//", "http://[::1", "http://\x00host/", "http://a b/",
    "http://999.999.999.999/", "gopher://127.0.0.1:70/", "http://127.0.0.1:99999/",
    "http://xn--nxasmq6b.invalid/", "http://b\u00fccher.invalid/", "mailto:x@y", "tel:1",
    "about:blank", "blob:null/1", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/",
    "http://[::ffff:10.0.0.1]/", "http://0x0a000001/", "http://" + "a" * 300 + ".test/",
    "/" + "x" * 9000,
]  # fmt: skip


@serves("/truncated")
async def truncated(c: Connection) -> None:
    await c.head("Content-Length: 5000")
    await c.send(b"<p>only this much")


@serves("/length-too-small")
async def length_too_small(c: Connection) -> None:
    body = document("More than announced", "rest").encode()
    await c.head(f"Content-Length: {len(body) // 2}")
    await c.send(body)


@serves("/length-rubbish")
async def length_rubbish(c: Connection) -> None:
    await c.head("Content-Length: banana")
    await c.send(b"<p>text")


@serves("/chunks-broken")
async def chunks_broken(c: Connection) -> None:
    await c.head("Transfer-Encoding: chunked")
    await c.send(b"5\r\n<p>ok\r\nZZZ\r\nbroken\r\n")


@serves("/chunks-unfinished")
async def chunks_unfinished(c: Connection) -> None:
    await c.head("Transfer-Encoding: chunked")
    await c.send(b"5\r\n<p>ok\r\n")


@serves("/charset-lies")
async def charset_lies(c: Connection) -> None:
    body = document("Ünïcödé", "grüße").encode("utf-16")
    await c.head(
        f"Content-Length: {len(body)}", "Content-Type: text/html; charset=ascii", html=False
    )
    await c.send(body)


@serves("/charset-unknown")
async def charset_unknown(c: Connection) -> None:
    body = document("Unknown charset", "").encode()
    await c.head(
        f"Content-Length: {len(body)}", "Content-Type: text/html; charset=x-none", html=False
    )
    await c.send(body)


@serves("/charset-punycode")
async def charset_punycode(c: Connection) -> None:
    await c.head("Content-Type: text/html", html=False)
    await c.send(b"<meta charset=punycode>" + b"a" * 1_000_000 + b"-" + b"b" * 500_000)


@serves("/invalid-utf8")
async def invalid_utf8(c: Connection) -> None:
    await c.page(document("Invalid", "").encode() + b"\xff\xfe\x80\xc0\xaf" * 50)


@serves("/nul-bytes")
async def nul_bytes(c: Connection) -> None:
    await c.page(document("Nul\x00title\x1b[31m\r\nforged log line", "\x00" * 100))


@serves("/binary-as-html")
async def binary_as_html(c: Connection) -> None:
    await c.page(os.urandom(200_000))


@serves("/huge")
async def huge(c: Connection) -> None:
    await c.head("Content-Length: 200000000")
    await c.forever(b"<p>huge</p>" * 6000, most=200_000_000)


@serves("/endless")
async def endless(c: Connection) -> None:
    await c.head()
    await c.forever(b"<p>endless</p>" * 5000)


@serves("/slow-loris")
async def slow_loris(c: Connection) -> None:
    await c.head()
    await c.forever(b"<", pause=0.2)


@serves("/slow-head")
async def slow_head(c: Connection) -> None:
    await c.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        await c.send(f"X-{number}: y\r\n".encode())
        await asyncio.sleep(0.2)


@serves("/silent")
async def silent(c: Connection) -> None:
    await asyncio.sleep(60)


BOMB = b"\0" * 100_000_000


@serves("/bomb-gzip")
async def bomb_gzip(c: Connection) -> None:
    await c.page(c.server.bomb("gzip"), "Content-Encoding: gzip")


@serves("/bomb-deflate")
async def bomb_deflate(c: Connection) -> None:
    await c.page(c.server.bomb("deflate"), "Content-Encoding: deflate")


@serves("/bomb-brotli")
async def bomb_brotli(c: Connection) -> None:
    await c.page(c.server.bomb("br"), "Content-Encoding: br")


@serves("/bomb-zstd")
async def bomb_zstd(c: Connection) -> None:
    await c.page(c.server.bomb("zstd"), "Content-Encoding: zstd")


@serves("/gzip-rubbish")
async def gzip_rubbish(c: Connection) -> None:
    await c.page(b"this is no gzip", "Content-Encoding: gzip")


@serves("/deep")
async def deep(c: Connection) -> None:
    await c.page("<div>" * 100_000 + document("Deep", "") + "</div>" * 100_000)


@serves("/closes-in-vain")
async def closes_in_vain(c: Connection) -> None:
    await c.page(document("In vain", "") + "<x></y>" * 200_000)


@serves("/many-attributes")
async def many_attributes(c: Connection) -> None:
    attributes = " ".join(f"a{number}=b" for number in range(150_000))
    await c.page(document("Attributes", f"<b {attributes}>end</b>"))


@serves("/many-options")
async def many_options(c: Connection) -> None:
    await c.page(document("Options", "<select>" + "<option>star" * 150_000))


@serves("/unended-formatting")
async def unended_formatting(c: Connection) -> None:
    fonts = "".join(f"<font size={number}>" for number in range(1_900))
    await c.page(document("Fonts", f"<div>{fonts}</div>" + "<div>x</div>" * 50_000))


@serves("/many-links")
async def many_links(c: Connection) -> None:
    await c.page("".join(f"<a href=/healthy/{n % 8}#{n}>x</a>" for n in range(100_000)))


@serves("/long-anchor")
async def long_anchor(c: Connection) -> None:
    await c.page(document("Long", f"<a href=/healthy/0>{'star ' * 200_000}</a>"))


@serves("/huge-header")
async def huge_header(c: Connection) -> None:
    await c.page("x", "X-Long: " + "h" * 1_000_000)


@serves("/many-headers")
async def many_headers(c: Connection) -> None:
    await c.page("x", *[f"X-{number}: {'v' * 100}" for number in range(5_000)])


@serves("/redirect-loop")
async def redirect_loop(c: Connection) -> None:
    await c.page("", "Location: /redirect-loop", status="302 Found")


@serves("/redirect-chain/0")
async def redirect_chain(c: Connection) -> None:
    number = int(c.path.rpartition("/")[2])
    await c.page("", f"Location: /redirect-chain/{number + 1}", status="302 Found")


for redirect, target in {
    "/redirect-file": "file:///etc/passwd",
    "/redirect-ftp": "ftp://127.0.0.1/x",
    "/redirect-script": "javascript:alert(1)",
    "/redirect-private": "http://169.254.169.254/latest/meta-data/",
    "/redirect-nowhere": "",
    "/redirect-rubbish": "http://[::1",
}.items():

    async def redirects(c: Connection, target: str = target) -> None:
        await c.page("", f"Location: {target}", status="301 Moved")

    HANDLERS[redirect] = redirects


@serves("/trap/0")
async def trap(c: Connection) -> None:
    number = int(c.path.rpartition("/")[2])
    await c.page(document(f"Trap {number}", f'<a href="/trap/{number + 1}">next</a>'))


@serves("/calendar?month=0")
async def calendar(c: Connection) -> None:
    number = int(c.path.rpartition("=")[2])
    await c.page(f'<p>Nothing here.<a href="/calendar?month={number + 1}">next month</a></p>')


@serves("/grow/a")
async def growing_path(c: Connection) -> None:
    await c.page(f'<p>Deeper.<a href="{c.path}/a">deeper</a></p>')


@serves("/changing")
async def changing(c: Connection) -> None:
    await c.page(document("Changing", os.urandom(20).hex()))


@serves("/reset-at-once")
async def reset_at_once(c: Connection) -> None:
    c.reset()


@serves("/reset-in-head")
async def reset_in_head(c: Connection) -> None:
    await c.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    c.reset()


@serves("/reset-in-body")
async def reset_in_body(c: Connection) -> None:
    await c.head("Content-Length: 100000")
    await c.send(b"<p>some")
    c.reset()


@serves("/no-http")
async def no_http(c: Connection) -> None:
    await c.send(b"\x00\x01\x02 SSH-2.0-OpenSSH_9\r\n")


@serves("/status-rubbish")
async def status_rubbish(c: Connection) -> None:
    await c.send(b"HTTP/1.1 banana OK\r\n\r\n<p>x")


@serves("/status-999")
async def status_999(c: Connection) -> None:
    await c.page("odd", status="999 No Reason")


@serves("/status-500")
async def status_500(c: Connection) -> None:
    await c.page("always broken", status="500 Internal Server Error")


@serves("/flaky")
async def flaky(c: Connection) -> None:
    if c.server.hits["/flaky"] < 2:
        await c.page("not yet", status="503 Service Unavailable")
    else:
        await c.page(document("Flaky", "better now"))


@serves("/image")
async def image(c: Connection) -> None:
    await c.head("Content-Length: 8", "Content-Type: image/png", html=False)
    await c.send(b"\x89PNG\r\n\x1a\n")


@serves("/formula")
async def formula(c: Connection) -> None:
    await c.page(document("=HYPERLINK(1) %s {0} ../../etc/passwd '; drop table pages; --", ""))


@serves("/empty")
async def empty(c: Connection) -> None:
    await c.page("")


# What happens on these hosts happens to their robots.txt; the page itself is well.
@serves("/robots-endless")
@serves("/robots-bomb")
@serves("/robots-redirect-loop")
@serves("/robots-redirect-private")
@serves("/robots-rubbish")
@serves("/robots-forbids")
async def behind_robots(c: Connection) -> None:
    await c.page(document("Behind an odd robots.txt", ""))


@serves("/robots.txt")
async def robots(c: Connection) -> None:
    case = c.server.case_of(c.host)
    if case == "/robots-endless":
        await c.head()
        await c.forever(b"Disallow: /nothing\n" * 1_000)
    elif case == "/robots-bomb":
        await c.page(c.server.bomb("gzip"), "Content-Encoding: gzip")
    elif case == "/robots-redirect-loop":
        await c.page("", "Location: /robots.txt", status="302 Found")
    elif case == "/robots-redirect-private":
        await c.page("", "Location: http://169.254.169.254/robots.txt", status="302 Found")
    elif case == "/robots-forbids":
        await c.page("User-agent: *\nDisallow: /\n")
    elif case == "/robots-rubbish":
        await c.page("\x00\xff binary rubbish\nUser-agent\n: :\nDisallow\n" * 100)
    else:
        await missing(c)


class HostileServer:
    """Runs the hostile web in a thread of its own."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self._bombs: dict[str, bytes] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0
        self._servers: list[asyncio.Server] = []
        self.elsewhere: list[str] = []
        cases = [path for path in HANDLERS if path not in {"/", "/robots.txt"}]
        self.hosts = {path: f"127.0.1.{number}" for number, path in enumerate(cases, 1)}

    def __enter__(self) -> HostileServer:
        for kind in ("gzip", "deflate", "br", "zstd"):
            self.bomb(kind)
        self._thread.start()
        self.port = self._listen(["127.0.0.1"], 0)
        self._listen(list(self.hosts.values()), self.port)
        secure = self._listen(["127.0.2.1"], 0, bad_certificate())
        self.elsewhere = [f"https://127.0.2.1:{secure}/healthy/tls"]
        if socket.has_ipv6:
            try:
                six = self._listen(["::1"], 0)
            except OSError:  # a machine without IPv6
                return self
            self.elsewhere.append(f"http://[::1]:{six}/healthy/ipv6")
        return self

    def _listen(self, hosts: list[str], port: int, tls: ssl.SSLContext | None = None) -> int:
        started = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, hosts, port, ssl=tls), self._loop
        )
        self._servers.append(started.result())
        return int(self._servers[-1].sockets[0].getsockname()[1])

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def url(self, path: str = "/") -> str:
        return f"http://{self.hosts.get(path, '127.0.0.1')}:{self.port}{path}"

    def case_of(self, host: str) -> str:
        return next((path for path, address in self.hosts.items() if address == host), "")

    def bomb(self, kind: str) -> bytes:
        """Return 100 MB of nothing, compressed."""
        if kind not in self._bombs:
            pack = {
                "gzip": lambda: gzip.compress(BOMB, 6),
                "deflate": lambda: zlib.compress(BOMB, 6),
                "br": lambda: brotli.compress(BOMB, quality=1),
                "zstd": lambda: zstandard.compress(BOMB),
            }
            self._bombs[kind] = pack[kind]()
        return self._bombs[kind]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            path = request.split(b" ", 2)[1].decode("latin-1")
            self.hits[path] += 1
            await self._handler(path)(Connection(writer, path, self))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass
        except asyncio.CancelledError:
            pass  # the server stops; nobody waits for this connection
        finally:
            writer.close()

    def _handler(self, path: str) -> Handler:
        if path in HANDLERS:
            return HANDLERS[path]
        for start, handler in (
            ("/redirect-chain/", redirect_chain),
            ("/trap/", trap),
            ("/calendar?", calendar),
            ("/grow/", growing_path),
        ):
            if path.startswith(start):
                return handler
        return healthy if path.startswith("/healthy/") else missing


async def healthy(c: Connection) -> None:
    await c.page(document(f"Healthy {c.path}", "all is well"))


async def missing(c: Connection) -> None:
    await c.page("nothing", status="404 Not Found")


def bad_certificate() -> ssl.SSLContext:
    """Return a server's TLS that nobody should trust: self-signed, expired, for another name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "somebody.else.invalid")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=20))
        .not_valid_after(now - timedelta(days=10))
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(file)
    return context
