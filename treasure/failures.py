"""Why a download gave no page, in words that a person understands, and whether to try again."""

from __future__ import annotations

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
WAIT_FACTOR = 4.0
"""Each retry waits this much longer than the one before."""

TOO_LARGE = "larger than allowed"
"""Also said of a small body that unpacks to a large one."""

DAMAGED = "damaged compressed body"

_BY_NAME = {
    "TimeoutError": "timeout",
    "DownloadTimeoutError": "timeout",
    "TCPTimedOutError": "timeout",
    "DNSLookupError": "the host name cannot be resolved",
    "CannotResolveHostError": "the host name cannot be resolved",
    "ConnectionRefusedError": "connection refused",
    "DownloadConnectionRefusedError": "connection refused",
    "ConnectionLost": "connection lost",
    "ConnectionDone": "connection lost",
    "ResponseFailed": "connection lost",
    "DownloadFailedError": "connection lost",
    "ResponseNeverReceived": "no response",
    "ResponseDataLossError": "body shorter than announced",
    "ResponseDataLoss": "body shorter than announced",
    "DownloadCancelledError": TOO_LARGE,
    "CancelledError": TOO_LARGE,
    "BadGzipFile": DAMAGED,
    "EOFError": DAMAGED,
    "ZstdError": DAMAGED,
    "error": DAMAGED,  # zlib and Brotli name theirs so
    "UnsupportedURLSchemeError": "unsupported scheme",
    "NotSupported": "unsupported scheme",
}
_PERMANENT = frozenset({TOO_LARGE, DAMAGED, "unsupported scheme"})


_NETWORK = frozenset(
    {"timeout", "the host name cannot be resolved", "connection refused", "connection lost"}
)


def of_network(failure: str) -> bool:
    """Tell whether *failure* is one that all hosts show when our own connection is gone."""
    return failure in _NETWORK or failure.startswith(("OSError", "Connect", "NoRouteError"))


def of_status(status: int) -> str:
    """Return the failure that an HTTP status stands for."""
    return f"HTTP status {status}"


def of_exception(error: BaseException) -> str:
    """Return the failure behind a download error."""
    name = type(error).__name__
    if name == "IgnoreRequest":
        said = " ".join(str(error).split())
        return TOO_LARGE if "decompression" in said else said or "refused by a middleware"
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    detail = " ".join(str(error).split())[:200]
    return f"{name}: {detail}" if detail else name


def worth_retrying(status: int, failure: str) -> bool:
    """Tell whether the same request may well succeed later."""
    if status:
        return status in RETRIED_STATUSES
    temporary = failure in set(_BY_NAME.values()) - _PERMANENT
    return temporary or failure.startswith(("SSL", "ConnectError", "OSError", "Connect"))


def wait_seconds(attempts: int, first: float) -> float:
    """Return how long to wait after one more failure than *attempts*, starting at *first*."""
    return float(first * WAIT_FACTOR ** max(0, attempts))
