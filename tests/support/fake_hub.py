"""A hub of models on this host, which speaks the protocol of Hugging Face's and fails as it is told."""
import functools
import hashlib
import http.server
import json
import re
import threading

COMMIT = "1" * 40


def git_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@functools.lru_cache(maxsize=16)  # a large file is listed once for each pull
def large_id(content):
    return hashlib.sha256(content).hexdigest()


class FakeHub:
    """`with FakeHub(files) as hub:` serves the model ORG/NAME with these files, {path: content}.

    Attributes may be changed at any time:
      fails     [(what, number of answers)]: 401, 403, 404, 429, 503, "loop", "cut", which the next
                answers for files are instead
      flows     an event; while it is not set, answers for large files end in their middle and wait
      cut_at    bytes after which an answer for a file ends without a word; None: never
      cut_lists number of the next answers for the list that end in their middle
      is_busy   whether lists are refused with 429 for ten minutes
      ranges    whether it knows ranges
      token     what it wants to be shown; None: nothing
      listed    what its list says instead of the truth, by path: {"id": ..., "path": ..., "size": ...}
    `requests` has (path, Range, Authorization) of all that came.
    """

    def __init__(self, files, large=1024, name="ORG/NAME"):
        self.files, self.large, self.name = files, large, name
        self.fails, self.cut_at, self.ranges, self.token, self.listed = [], None, True, None, {}
        self.cut_lists, self.is_busy = 0, False
        self.flows = threading.Event()
        self.flows.set()
        self.requests = []
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                hub.answer(self)

            def do_HEAD(self):
                hub.describe(self)

            def log_message(self, *unused):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *unused):
                """A client that goes away is part of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.flows.set()
        self._server.shutdown()
        self._server.server_close()

    def fetched(self, path=""):
        """The requests for contents of that path."""
        return [one for one in self.requests if one[0].startswith("/cdn/" + path)]

    def entry(self, path):
        content = self.files[path]
        content_id = large_id(content) if self.is_large(path) else git_id(content)
        said = {"id": content_id, "path": path, "size": len(content), **self.listed.get(path, {})}
        entry = {"rfilename": said["path"], "size": said["size"], "blobId": said["id"]}
        if self.is_large(path):
            entry["lfs"] = {"sha256": said["id"], "size": said["size"], "pointerSize": 1}
        return entry

    def tree_entry(self, path):
        entry = self.entry(path)
        tree = {"type": "file", "path": path, "oid": entry["blobId"], "size": entry["size"]}
        if "lfs" in entry:
            tree["lfs"] = {**entry["lfs"], "oid": entry["lfs"]["sha256"]}
        return tree

    def is_large(self, path):
        return len(self.files[path]) >= self.large

    def answer(self, request):
        path = request.path.split("?")[0]
        self.requests.append((path, request.headers.get("Range"),
                              request.headers.get("Authorization")))
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}" \
                and not path.startswith("/cdn/"):
            return self.refuse(request, 401, "RepoNotFound")
        listing = re.fullmatch(rf"/api/models/{self.name}/revision/([\w%]+)", path)
        if listing:
            if self.is_busy:
                return self.refuse(request, 429, "", wait=600)
            if listing[1] not in ("main", COMMIT, "a%2Fb"):
                return self.refuse(request, 404, "RevisionNotFound")
            body = json.dumps({"id": self.name, "sha": COMMIT,
                               "siblings": [self.entry(path) for path in self.files]}).encode()
            if self.cut_lists > 0:
                self.cut_lists -= 1
                request.close_connection = True
                return self.send(request, 200, body[:len(body) // 2], {"Content-Length": str(len(body))})
            return self.send(request, 200, body)
        if path == f"/api/models/{self.name}/tree/{COMMIT}":  # what Python's library asks
            return self.send(request, 200, json.dumps(
                [self.tree_entry(path) for path in self.files]).encode())
        file = re.fullmatch(rf"/{self.name}/resolve/{COMMIT}/(.*)", path)
        if file and file[1] in self.files:
            request.send_response(302)
            request.send_header("Location", f"{self.url}/cdn/{file[1]}")
            request.send_header("Content-Length", "0")
            return request.end_headers()
        if path.startswith("/cdn/"):
            return self.content(request, path[len("/cdn/"):])
        return self.refuse(request, 404, "RepoNotFound")

    def describe(self, request):
        """What Python's library asks before it fetches a file."""
        file = re.fullmatch(rf"/{self.name}/resolve/(?:main|{COMMIT})/(.*)", request.path)
        if not file or file[1] not in self.files:
            return self.refuse(request, 404, "EntryNotFound")
        content = self.files[file[1]]
        request.send_response(200)
        request.send_header("X-Repo-Commit", COMMIT)
        request.send_header("ETag", f'"{self.entry(file[1])["blobId"]}"')
        request.send_header("Content-Length", str(len(content)))
        return request.end_headers()

    def next_fault(self):
        while self.fails:
            what, times = self.fails[0]
            if times > 0:
                self.fails[0] = (what, times - 1)
                return what
            self.fails.pop(0)
        return None

    def content(self, request, path):
        fault = self.next_fault()
        if fault == "loop":
            request.send_response(302)
            request.send_header("Location", request.path)
            request.send_header("Content-Length", "0")
            return request.end_headers()
        if isinstance(fault, int):
            return self.refuse(request, fault, "GatedRepo" if fault == 403 else "")
        whole = memoryview(self.files[path])  # parts of it are no copies
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
        if wanted and self.ranges:
            first, last = int(wanted[1]), int(wanted[2] or len(whole) - 1)
            part = whole[first:last + 1]
            headers = {"Content-Range": f"bytes {first}-{last}/{len(whole)}"}
            return self.send(request, 206, part, headers)
        return self.send(request, 200, whole)

    def send(self, request, status, body, headers=None):
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            request.send_header(name, value)
        request.end_headers()
        is_content = request.path.startswith("/cdn/")
        if is_content and self.cut_at is not None and len(body) > self.cut_at:
            request.wfile.write(body[:self.cut_at])
            request.close_connection = True
            return None
        half = len(body) // 2 if is_content and len(body) >= self.large else 0
        request.wfile.write(body[:half])
        request.wfile.flush()
        if half:
            self.flows.wait()
        request.wfile.write(body[half:])
        return None

    def refuse(self, request, status, code, wait=1):
        request.send_response(status)
        request.send_header("X-Error-Code", code)
        if status == 429:
            request.send_header("Retry-After", str(wait))
        request.send_header("Content-Length", "0")
        request.end_headers()
