"""URL identity: one canonical address and one key per page.

Every link of every page passes here, so clean addresses (the great majority) are recognised by a
regular expression and a host met before, and returned as they are. The others take the slow road
through w3lib. Nothing here raises: an address that cannot be fetched over HTTP is the empty string.

What is one page to us, beyond w3lib's rules (sorted query, upper-case percent codes, no fragment,
dot segments resolved): the host in lower case, as punycode and without its final dot; no default
port; no user name or password, which a crawler must not use; no parameters that only count visits
(``utm_source``) or carry a session (``PHPSESSID``, ``;jsessionid=``, ASP.NET's ``/(S(...))/``).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv6Address
from urllib.parse import unquote, urljoin

import idna
from w3lib.url import canonicalize_url

from treasure.core.hrefs import Hrefs

MAX_URL_CHARACTERS = 4_096
"""Longer addresses are no addresses; browsers and servers give up near here as well."""

TRACKING_PREFIXES = ("utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "_hs", "at_", "wt_zmc")
_TRACKING = (
    "_branch_match_id _ga _gl _ke _openstat cmpid cvid dclid dm_i ef_id epik fb_action_ids "
    "fb_action_types fb_ref fb_source fbclid gad_source gbraid gclid gclsrc gs_l hsctatracking "
    "icid igsh igshid li_fat_id mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash msclkid "
    "ncid oicd oly_anon_id oly_enc_id rb_clickid s_cid s_kwcid sc_cid spm srsltid "
    "trk_contact trk_msg trk_module trk_sid ttclid twclid vero_conv vero_id wbraid wickedid "
    "yclid ysclid zanpid"
)
TRACKING_PARAMETERS = frozenset(_TRACKING.split())
_SESSIONS = (
    "phpsessid jsessionid cfid cftoken sessionid session_id sessid oscsid zenid xtcsid "
    "aspxautodetectcookiesupport"
)
SESSION_PARAMETERS = frozenset(_SESSIONS.split())
AMBIGUOUS_SESSION_PARAMETERS = frozenset({"sid", "s", "session"})
"""Sessions only when the value looks like one: forums write ``sid=`` and 32 hex digits."""

_CLEAN_PATH = re.compile(r"/[A-Za-z0-9_~./!$&'()*+,:=@-]*+", re.ASCII)
"""What w3lib leaves as it is; percent codes, and ``;`` that may begin a session, are not in it."""
_CLEAN_QUERY = re.compile(r"(?:[A-Za-z0-9_.~-]++=[A-Za-z0-9_.~-]*+(?:&(?!$)|$))++", re.ASCII)
_SCHEME = re.compile(r"(https?):[/\\]*+", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*+:", re.IGNORECASE)
_AUTHORITY = re.compile(
    r"(?:[^/?#]*@)?(?P<name>\[[^\]/?#@]*\]|[^:/?#@\[\]]+)(?::(?P<port>[0-9]*))?(?P<rest>[/?#].*)?",
    re.DOTALL,
)
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})*", re.ASCII)
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)
_SESSION_VALUE = re.compile(r"(?:[0-9a-f]{16,64}|[0-9a-z]{26,64})", re.IGNORECASE | re.ASCII)
_SESSION_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;?]*|(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/",
    re.IGNORECASE,
)
_INDEX = re.compile(
    r"/(?:(?:index|default)\.(?:html?|xhtml|shtml|php|aspx?|jsp|cgi))?\Z", re.IGNORECASE
)
_IGNORED = str.maketrans("", "", "\t\n\r")
_CONTROLS = "".join(map(chr, range(33)))
_DEFAULT_PORTS = {"http": 80, "https": 443}
_RELATIVE = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_~./-]*+", re.ASCII)
_UPWARDS = re.compile(r"((?:[.][.]/)++)([A-Za-z0-9_~-][A-Za-z0-9_~./!$&'()*+,=@%-]*+)", re.ASCII)


@lru_cache(maxsize=1 << 15)
def url_key(url: str) -> int:
    """Return the key of a canonical URL: 64 bits, signed."""
    return int.from_bytes(
        blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True
    )


@lru_cache(maxsize=1 << 15)
def canonical(url: str) -> str:
    """Return the canonical form of *url*; empty when it is no HTTP address.

    Remembered, since most links of a page were on the page before.
    """
    return url if _is_clean(url) else _canonical_slow(url)


def _is_clean(url: str) -> bool:
    """Tell whether *url* is canonical at first sight."""
    path = url.find("/", 8)
    return (
        path > 0
        and _CLEAN_PATH.fullmatch(url, path) is not None
        and "/." not in url  # may begin a segment to resolve
        and "/(" not in url  # may begin a session
        and _is_canonical_origin(url[:path])
        and len(url) <= MAX_URL_CHARACTERS
    )


@lru_cache(maxsize=8_192)
def _is_canonical_origin(origin: str) -> bool:
    """Whether scheme, host and port are written as we write them; a crawl has few of them."""
    return _canonical_slow(f"{origin}/") == f"{origin}/"


def join(base: str, href: str) -> str:
    """Return *href* as an absolute address, not yet canonical; empty when it is no HTTP link.

    *base* is the address of the page or its ``<base href>``, absolute.
    """
    if href.startswith(("https://", "http://")):
        return href
    scheme, origin, directory = _base(base)
    if href.startswith("/") and href[1:2] not in ("/", "\\"):
        return origin + href if origin else ""
    if _RELATIVE.fullmatch(href):
        return directory + href if directory else ""
    if (upwards := _UPWARDS.fullmatch(href)) and "//" not in href:
        return _above(base, len(upwards[1]) // 3) + upwards[2] if directory else ""
    return _join_slow(scheme, origin, base, href)


def resolver(base: str, otherwise: Callable[[str], str]) -> Callable[[str], str]:
    """Return what makes of a page's links what ``canonical`` makes of ``join``, its address *base*.

    *otherwise* is asked where that takes more than a look (``core.hrefs``).
    """
    resolve: Callable[[str], str] = Hrefs(
        *_clean_base(base), _is_canonical_origin, otherwise, MAX_URL_CHARACTERS
    )
    return resolve


@lru_cache(maxsize=1_024)
def _clean_base(base: str) -> tuple[str, str]:
    """Return origin and directory of *base*; empty where they are not clean."""
    _, origin, directory = _base(base)
    if not origin or not _is_canonical_origin(origin):
        return "", ""
    return origin, directory if _is_clean(directory) else ""


def host_of(url: str) -> str:
    """Return the host of a canonical URL with its port, if that is not the default.

    This is the unit of politeness: robots.txt, and so Crawl-delay, belong to host and port.
    """
    parts = url.split("/", 3)
    return parts[2] if len(parts) > 2 and parts[0] in ("https:", "http:") else ""


def name_of(host: str) -> str:
    """Return *host* without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def is_respelt(url: str, named: str) -> bool:
    """Tell whether *named* is *url* but for its scheme, final slash or index page.

    When a page names such an address as its own (rel=canonical), that need not be fetched. What
    differs in more is fetched: the page there may hold more than the copy (RFC 6596), and many a
    template names the wrong page, such as the home page, on all pages of a site.
    """
    return url != named and _unspelt(url) == _unspelt(named)


def _unspelt(url: str) -> str:
    path, mark, query = url.partition("://")[2].partition("?")
    return _INDEX.sub("", path) + mark + query


def _canonical_slow(url: str) -> str:
    if len(url) > MAX_URL_CHARACTERS:
        return ""
    url = url.strip(_CONTROLS).translate(_IGNORED)
    found = _SCHEME.match(url)
    if not found:
        return ""
    scheme = found[1].lower()
    parts = _AUTHORITY.fullmatch(url[found.end() :].replace("\\", "/"))
    if not parts:
        return ""
    authority = _authority(scheme, parts["name"], parts["port"])
    if not authority:
        return ""
    path, _, query = (parts["rest"] or "/").partition("#")[0].partition("?")
    path, query = _SESSION_PATH.sub("", path) or "/", _kept(query)
    if _CLEAN_QUERY.fullmatch(query) and _RELATIVE.fullmatch(path[1:] or "x") and "/." not in path:
        # As w3lib would write it: these characters are never changed, the pairs are sorted.
        return f"{scheme}://{authority}{path}?{'&'.join(sorted(query.split('&'), key=_pair))}"
    return _settled(f"{scheme}://{authority}{path}{'?' if query else ''}{query}")


def _pair(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    return name, value


def _settled(url: str) -> str:
    """Return *url* as w3lib writes it, applied until nothing changes any more."""
    for _ in range(4):
        try:
            written = str(canonicalize_url(url))
        except (ValueError, UnicodeError):
            return ""
        if len(written) > MAX_URL_CHARACTERS:  # percent codes are longer than what they stand for
            return ""
        if written == url:
            return url
        url = written
    return url


def _authority(scheme: str, name: str, port: str | None) -> str:
    host = _host(name)
    if not host or not port:
        return host
    number = int(port) if len(port) < 8 else 0
    if not 0 < number < 65_536:
        return ""
    return host if number == _DEFAULT_PORTS[scheme] else f"{host}:{number}"


@lru_cache(maxsize=4_096)
def _host(name: str) -> str:
    """Return the host in lower-case ASCII; empty when there can be no such host."""
    if name.startswith("["):
        try:
            return f"[{IPv6Address(name[1:-1])}]"
        except ValueError:
            return ""
    if "%" in name or not name.isascii():
        name = _ascii(name)
    name = name.lower().removesuffix(".")
    if not _NAME.fullmatch(name):
        return ""
    if _NUMBER.fullmatch(name):  # 127.1 and 0x7f000001 are the same machine as 127.0.0.1
        try:
            return socket.inet_ntoa(socket.inet_aton(name))
        except OSError:
            return ""
    return name


def _ascii(name: str) -> str:
    """Return a host name in punycode, as browsers write it (UTS 46)."""
    try:
        labels = idna.uts46_remap(unquote(name, errors="strict"), std3_rules=False).split(".")
        return ".".join([_label(label) for label in labels])
    except (UnicodeError, ValueError):
        return ""


def _label(label: str) -> str:
    # Not idna.encode: it refuses names that exist, such as those with emoji.
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _kept(query: str) -> str:
    """Return *query* without tracking and session parameters, and without empty ones."""
    return "&".join([p for p in query.split("&") if p and not _ignored(p)])


def _ignored(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in AMBIGUOUS_SESSION_PARAMETERS:
        return bool(_SESSION_VALUE.fullmatch(value))
    return (
        name in TRACKING_PARAMETERS
        or name in SESSION_PARAMETERS
        or name.startswith(TRACKING_PREFIXES)
        or name.startswith("aspsessionid")
    )


@lru_cache(maxsize=1_024)
def _base(base: str) -> tuple[str, str, str]:
    """Return scheme, origin and directory of *base*; empty where it has none."""
    found = _SCHEME.match(base)
    if not found:
        return "", "", ""
    path = re.split(r"[?#]", base, maxsplit=1)[0]
    parts = path.split("/", 3)
    if len(parts) < 3 or not parts[2]:
        return found[1].lower(), "", ""
    origin = "/".join(parts[:3])
    directory = path[: path.rindex("/") + 1] if len(parts) > 3 else origin + "/"
    return found[1].lower(), origin, directory


@lru_cache(maxsize=1_024)
def _above(base: str, levels: int) -> str:
    """Return the directory that many levels above that of *base*; the root is above the root."""
    _, origin, directory = _base(base)
    names = directory[len(origin) + 1 :].split("/")[:-1]
    return "/".join([origin, *names[: max(0, len(names) - levels)], ""])


@lru_cache(maxsize=8_192)
def _join_slow(scheme: str, origin: str, base: str, href: str) -> str:
    href = href.strip(_CONTROLS).translate(_IGNORED)
    if _SCHEME.match(href):
        return href
    if _OTHER_SCHEME.match(href) or not origin:
        return ""
    if href.startswith(("//", "\\\\", "/\\", "\\/")):
        return f"{scheme}:{href}"
    if not href or href.startswith("#"):
        return base
    try:
        return urljoin(base, href)
    except ValueError:
        return ""
