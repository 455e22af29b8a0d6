"""URL identity: one canonical address and one key per page."""

from __future__ import annotations

from hashlib import blake2b


def url_key(url: str) -> int:
    """Return the key of a canonical URL: 64 bits, signed."""
    return int.from_bytes(blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
