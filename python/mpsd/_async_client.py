"""AsyncClient: a server's models from coroutines."""
from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

from . import _wire
from ._address import DEFAULT_URL, Address, has_ended
from ._wire import Array, Model

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class AsyncClient:
    """The calls of Client as coroutines, on asyncio's own streams.

    Each call takes a free connection or opens one, so calls run at the same time. A client belongs
    to the loop that it is first used in.
    """

    def __init__(self, url: str = DEFAULT_URL, *, token: Optional[str] = None,
                 timeout: float = 60.0, context: Optional[ssl.SSLContext] = None) -> None:
        self._address = Address.of(url, token, timeout, context)
        self._timeout = timeout
        self._idle: list[_Connection] = []

    async def infer(self, model: str, inputs: Mapping[str, Any], *,
                    outputs: Optional[Sequence[str]] = None,
                    parameters: Optional[Mapping[str, Any]] = None,
                    version: str = "") -> dict[str, Array]:
        """Runs the model; arrays by name, in and out. `outputs` names those that are wanted."""
        return _wire.read_infer(
            await self._call(_wire.infer(model, inputs, outputs, parameters, version)))

    async def embed(self, texts: Union[str, Sequence[str]], *, model: Optional[str] = None,
                    prompt: Optional[str] = None, dimensions: Optional[int] = None) -> Array:
        """A row of float32 for each text. `prompt` is the name of one of the model's prompts."""
        rows = [texts] if isinstance(texts, str) else texts
        return _wire.read_embed(await self._call(_wire.embed(rows, model, prompt, dimensions)))

    async def rerank(self, query: str, texts: Sequence[str], *, model: Optional[str] = None,
                     raw_scores: bool = False) -> Array:
        """How well each text answers the query, in the order of the texts."""
        return _wire.read_rerank(await self._call(_wire.rerank(query, texts, model, raw_scores)))

    async def models(self) -> list[Model]:
        """The models that the server knows."""
        return _wire.read_models(await self._call(_wire.models()))

    async def ready(self, model: Optional[str] = None) -> bool:
        """Whether the server, or this model, takes requests. False if nobody answers."""
        try:
            return _wire.read_ready(await self._call(_wire.ready(model)))
        except OSError:
            return False

    async def close(self) -> None:
        """Closes the connections that are idle. The client may be used on."""
        idle, self._idle = self._idle, []
        for _, writer in idle:
            writer.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def _call(self, request: _wire.Request) -> _wire.Reply:
        try:
            return await asyncio.wait_for(self._exchange_on_a_connection(request), self._timeout)
        except asyncio.TimeoutError:  # before Python 3.11 no OSError
            raise TimeoutError(f"no answer within {self._timeout:g} s") from None

    async def _exchange_on_a_connection(self, request: _wire.Request) -> _wire.Reply:
        connection = self._take_idle()
        if connection is not None:
            try:
                return await self._exchange(connection, request)
            except (ConnectionResetError, BrokenPipeError):
                if request.method != "GET":
                    raise
        where = self._address
        return await self._exchange(
            await asyncio.open_connection(where.host, where.port, ssl=where.tls), request)

    def _take_idle(self) -> Optional[_Connection]:
        while self._idle:
            connection = self._idle.pop()
            _, writer = connection
            if not writer.is_closing() and not has_ended(writer.get_extra_info("socket")):
                return connection
            writer.close()
        return None

    async def _exchange(self, connection: _Connection, request: _wire.Request) -> _wire.Reply:
        reader, writer = connection
        message = self._head(request) + request.body
        try:
            writer.write(message)
            await writer.drain()
            reply = await _read_reply(reader)
        except asyncio.IncompleteReadError:
            writer.close()
            raise ConnectionResetError("the server ended the connection before its answer") from None
        except (asyncio.LimitOverrunError, ValueError, IndexError) as error:
            writer.close()
            raise ConnectionError(f"the answer is broken: {error!r}") from None
        except BaseException:
            writer.close()
            raise
        if reply.headers.get("connection", "").lower() == "close":
            writer.close()
        else:
            self._idle.append(connection)
        return reply

    def _head(self, request: _wire.Request) -> bytes:
        where = self._address
        host = f"[{where.host}]" if ":" in where.host else where.host
        lines = [f"{request.method} {request.path} HTTP/1.1", f"Host: {host}:{where.port}",
                 f"Content-Length: {len(request.body)}"]
        lines += [f"{name}: {value}" for name, value in {**where.headers, **request.headers}.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _read_reply(reader: asyncio.StreamReader) -> _wire.Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await _read_body(reader, headers)
    return _wire.Reply(int(head[0].split()[1]), headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":  # a proxy's
        parts = []
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            parts.append((await reader.readexactly(size + 2))[:size])
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return b"".join(parts)
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return await reader.read()
