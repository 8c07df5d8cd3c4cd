"""Where a server is, and what goes with each request there."""
from __future__ import annotations

import select
import ssl
from dataclasses import dataclass
from typing import Any, Optional
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    tls: Optional[ssl.SSLContext]
    headers: dict[str, str]

    @staticmethod
    def of(url: str, token: Optional[str], timeout: float,
           context: Optional[ssl.SSLContext]) -> "Address":
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is no http:// or https:// address")
        tls = parts.scheme == "https"
        if tls and context is None:
            context = ssl.create_default_context()
        headers = {"Request-Timeout": f"{timeout:g}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return Address(parts.hostname, parts.port or (443 if tls else 80),
                       context if tls else None, headers)


def has_ended(socket: Any) -> bool:
    """Whether an idle connection's socket has an end or bytes to read: nothing was asked there."""
    if socket is None or socket.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
