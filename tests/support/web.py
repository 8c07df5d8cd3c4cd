"""Requests over HTTP, each on a connection of its own."""
import contextlib
import http.client
import json

LIMIT_S = 60


def ask(address, method, path, body=None, headers=None):
    """(status, headers, bytes) of an answer. What is no text and no bytes goes as JSON.

    The address may be a connection, which is closed.
    """
    kind = {"Content-Type": "application/json"}
    if body is None or isinstance(body, (str, bytes)):
        kind = {}
    else:
        body = json.dumps(body)
    connection = address
    if isinstance(address, str):
        connection = http.client.HTTPConnection(address, timeout=LIMIT_S)
    with contextlib.closing(connection):
        connection.request(method, path, body, {**kind, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def post(address, path, body, headers=None):
    """The JSON of an answer that must be well."""
    status, _, read = ask(address, "POST", path, body, headers)
    assert status == 200, (status, read)
    return json.loads(read)
