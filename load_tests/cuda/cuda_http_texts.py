"""Texts over HTTP, as OpenAI's clients send them, against an encoder of MiniLM's size on the device.

cuda_http_texts.py, in the environment that cuda_figures.sh makes:
  PARTS="models http_texts" cuda_figures.sh FOLDER
Clients are processes with one connection each. They post /v1/embeddings bodies again and again and
check the length of each answer. The first answer in JSON is compared with the first in base64.
"""
import base64
import http.client
import json
import multiprocessing
import random
import socket
import struct
import time

from cuda_figures import DEVICE, MODELS, SECONDS, attempt, figure, serving

WIDTH = 384  # numbers in a vector
WORDS = 30000
WARM_UP_S = 1


def body_of(draw, words, texts, form):
    """A body with `texts` texts, each with a number of words in the range `words`."""
    made = [" ".join(f"w{draw.randrange(WORDS)}" for _ in range(draw.randint(*words)))
            for _ in range(texts)]
    return json.dumps({"model": "texts", "input": made, "encoding_format": form}).encode()


def vectors(answer, form):
    """The numbers of an answer, as FP32."""
    data = [entry["embedding"] for entry in json.loads(answer)["data"]]
    if form == "base64":
        return [struct.unpack(f"<{WIDTH}f", base64.b64decode(text)) for text in data]
    return [struct.unpack(f"<{WIDTH}f", struct.pack(f"<{WIDTH}f", *numbers)) for numbers in data]


def ask(address, body):
    """One answer."""
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status} {text[:200]}")
    return text


def check_forms(address):
    """Checks that base64 and JSON carry the same vectors."""
    bodies = {form: body_of(random.Random(1), (3, 40), 8, form) for form in ("float", "base64")}
    made = {form: vectors(ask(address, body), form) for form, body in bodies.items()}
    if len(made["float"]) != 8 or made["float"] != made["base64"]:
        raise RuntimeError("the two forms of an answer differ")


class Connection:
    """A kept connection that reads only the length of an answer."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(1 << 20)
        self._view = memoryview(self._buffer)

    def post(self, body):
        """Sends a body; returns the number of bytes in its answer's body. The answer must be a
        success."""
        head = (f"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        self._socket.sendall(head.encode() + body)
        filled = 0
        end = -1
        while end < 0:
            filled += self._receive(self._view[filled:])
            end = self._buffer.find(b"\r\n\r\n", 0, filled)
        head = bytes(self._view[:end]).lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(head[:200])
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        left = end + 4 + length - filled
        while left > 0:
            left -= self._receive(self._view[:min(left, len(self._buffer))])
        return length

    def _receive(self, view):
        count = self._socket.recv_into(view)
        if count == 0:
            raise RuntimeError("the server has closed the connection")
        return count


def client(address, number, words, texts, form, times, results):
    """Posts from times[0] until times[2], and counts from times[1] on."""
    draw = random.Random(number)
    bodies = [body_of(draw, words, texts, form) for _ in range(16)]
    connection = Connection(address)
    taken, wrong, turn = [], 0, 0
    while time.monotonic() < times[0]:
        time.sleep(0.001)
    while (begun := time.monotonic()) < times[2]:
        length = connection.post(bodies[turn % len(bodies)])
        ended = time.monotonic()
        turn += 1
        wrong += form == "base64" and length < texts * WIDTH * 4 * 4 // 3
        if begun >= times[1] and ended <= times[2]:
            taken.append(ended - begun)
    results.put((taken, wrong))


def measured(daemon, words, texts, clients, form):
    """Texts a second, and the median time of a call, with `clients` clients."""
    check_forms(daemon.http)
    results = multiprocessing.Queue()
    begin = time.monotonic() + 1.5
    times = (begin, begin + WARM_UP_S, begin + WARM_UP_S + SECONDS)
    processes = [multiprocessing.Process(target=client, args=(daemon.http, number, words, texts, form,
                                                              times, results))
                 for number in range(clients)]
    for process in processes:
        process.start()
    parts = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    taken = sorted(seconds for part, _ in parts for seconds in part)
    return {"calls": len(taken), "short": sum(short for _, short in parts),
            "texts_per_second": len(taken) * texts / SECONDS,
            "p50_us": taken[len(taken) // 2] * 1e6, "p99_us": taken[len(taken) * 99 // 100] * 1e6}


def main():
    """One text of 14 words from one client, and 32 texts of all lengths from many."""
    model = {"name": "texts", "path": str(MODELS / "encoder"), "device": DEVICE,
             "precision": "bf16", "max_batch_size": 128, "queue": {"requests": 2048},
             "placement": {"processes": 1, "lanes": 4, "threads": 1}}
    with serving([model]) as daemon:
        for words, texts, clients, form in (((14, 14), 1, 1, "base64"), ((14, 14), 1, 1, "float"),
                                            ((3, 110), 32, 16, "base64"),
                                            ((3, 110), 32, 32, "base64"),
                                            ((3, 110), 32, 32, "float"),
                                            ((3, 110), 128, 16, "base64")):
            values = attempt("texts over HTTP", measured, daemon, words, texts, clients, form)
            if values is not None:
                figure("http_texts", words=words, texts=texts, clients=clients, form=form, **values)


if __name__ == "__main__":
    main()
