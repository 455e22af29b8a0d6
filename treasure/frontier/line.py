"""Line: scripts over one connection to Redis, in as few steps as there can be.

A page needs two scripts. To call one through redis-py's client takes 65 us of CPU, most of it
for its pool, its retries and a look at each argument; over a connection that we keep, 20. A server
that was away for a moment shows as an error here, so that we know that it may have lost something.
For one thread.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from redis.exceptions import NoScriptError, ResponseError


class Line:
    """One worker's connection to the server."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._connection: Any = None

    def call(self, script: str, *parts: Any) -> Any:
        """Run *script* with *parts*, its keys' number, keys and arguments; return its answer."""
        try:
            return self._call(script, parts)
        except NoScriptError:
            self._client.script_load(script)
            return self._call(script, parts)

    def close(self) -> None:
        """Let go."""
        if self._connection is not None:
            self._connection.disconnect()

    def _call(self, script: str, parts: tuple[Any, ...]) -> Any:
        if self._connection is None:
            self._connection = self._client.connection_pool.get_connection()
        try:
            self._connection.send_packed_command([_packed(script, parts)])
            return self._connection.read_response()
        except ResponseError:
            raise
        except BaseException:
            # Read no answer that was meant for somebody else; the next call connects anew.
            self._connection.disconnect()
            raise


def _packed(script: str, parts: tuple[Any, ...]) -> bytes:
    """Return the call as Redis reads it."""
    words = [b"EVALSHA", _name(script)]
    words += [part if isinstance(part, bytes) else str(part).encode() for part in parts]
    return b"*%d\r\n%b" % (len(words), b"".join([b"$%d\r\n%b\r\n" % (len(w), w) for w in words]))


@lru_cache(maxsize=32)
def _name(script: str) -> bytes:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest().encode()
