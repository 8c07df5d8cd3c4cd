"""Client: a server's models from ordinary functions."""
from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

from . import _wire
from ._address import DEFAULT_URL, Address, has_ended
from ._wire import Array, Model


class Client:
    """Calls a server over HTTP.

    Threads may share a client: each call takes a free connection or opens one. A call ends after
    `timeout` seconds, on the server too. Errors of the server are CallError, those of the network
    OSError.

    An inference is sent once: a connection that fails may have brought it to the server. A
    connection that the server has closed is not used again, and only a GET has a second try.
    """

    def __init__(self, url: str = DEFAULT_URL, *, token: Optional[str] = None,
                 timeout: float = 60.0, context: Optional[ssl.SSLContext] = None) -> None:
        self._address = Address.of(url, token, timeout, context)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def infer(self, model: str, inputs: Mapping[str, Any], *,
              outputs: Optional[Sequence[str]] = None,
              parameters: Optional[Mapping[str, Any]] = None, version: str = "") -> dict[str, Array]:
        """Runs the model; arrays by name, in and out. `outputs` names those that are wanted."""
        return _wire.read_infer(
            self._call(_wire.infer(model, inputs, outputs, parameters, version)))

    def embed(self, texts: Union[str, Sequence[str]], *, model: Optional[str] = None,
              prompt: Optional[str] = None, dimensions: Optional[int] = None) -> Array:
        """A row of float32 for each text. `prompt` is the name of one of the model's prompts."""
        rows = [texts] if isinstance(texts, str) else texts
        return _wire.read_embed(self._call(_wire.embed(rows, model, prompt, dimensions)))

    def rerank(self, query: str, texts: Sequence[str], *, model: Optional[str] = None,
               raw_scores: bool = False) -> Array:
        """How well each text answers the query, in the order of the texts."""
        return _wire.read_rerank(self._call(_wire.rerank(query, texts, model, raw_scores)))

    def models(self) -> list[Model]:
        """The models that the server knows."""
        return _wire.read_models(self._call(_wire.models()))

    def ready(self, model: Optional[str] = None) -> bool:
        """Whether the server, or this model, takes requests. False if nobody answers."""
        try:
            return _wire.read_ready(self._call(_wire.ready(model)))
        except OSError:
            return False

    def close(self) -> None:
        """Closes the connections that are idle. The client may be used on."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _call(self, request: _wire.Request) -> _wire.Reply:
        connection = self._take_idle()
        if connection is not None:
            try:
                return self._exchange(connection, request)
            except (ConnectionResetError, BrokenPipeError):
                if request.method != "GET":
                    raise
        return self._exchange(self._connect(), request)

    def _take_idle(self) -> Optional[http.client.HTTPConnection]:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if not has_ended(connection.sock):
                return connection
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        where = self._address
        if where.tls is None:
            return http.client.HTTPConnection(where.host, where.port, timeout=self._timeout)
        return http.client.HTTPSConnection(where.host, where.port, timeout=self._timeout,
                                           context=where.tls)

    def _exchange(self, connection: http.client.HTTPConnection,
                  request: _wire.Request) -> _wire.Reply:
        try:
            connection.request(request.method, request.path, request.body,
                               {**self._address.headers, **request.headers})
            answer = connection.getresponse()
            body = answer.read()
        except (http.client.BadStatusLine, http.client.IncompleteRead) as error:
            connection.close()
            if isinstance(error, OSError):
                raise
            raise ConnectionError(f"the answer is broken: {error!r}") from None
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return _wire.Reply(answer.status,
                           {name.lower(): value for name, value in answer.getheaders()}, body)
