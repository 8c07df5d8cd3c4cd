"""Who gets in: TLS, certificates, tokens, rules, the control socket; and that nothing is left open."""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

import calls
import web
from certificates import Authority
from daemon import Daemon, as_user, knows_localhost, mpsd, wait_until
from models import synthetic, tensor
from streams import input_of

UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
DENIED = grpc.StatusCode.PERMISSION_DENIED
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
OK = grpc.StatusCode.OK
NOBODY = 65534

INFERENCE = "/inference.GRPCInferenceService/"
# Every method of the daemon. A new method is added here, and in the gate's list.
METHODS = {
    *(INFERENCE + name for name in (
        "ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer",
        "ModelStreamInfer", "ModelConfig", "ModelStatistics", "RepositoryIndex",
        "RepositoryModelLoad", "RepositoryModelUnload", "SystemSharedMemoryStatus",
        "SystemSharedMemoryRegister", "SystemSharedMemoryUnregister", "CudaSharedMemoryStatus",
        "CudaSharedMemoryRegister", "CudaSharedMemoryUnregister", "TraceSetting", "LogSettings")),
    "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
    "/mpsd.control.v1.Control/Forgive", "/mpsd.control.v1.Control/Status",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics",
}
NO_METHODS = {"/a.B/C", INFERENCE, INFERENCE + "modelInfer", INFERENCE + "ModelInfer/", "/", "/x"}
OF_METRICS = ("/metrics", "/metrics/", "/", "/mpsd/status", "/docs")
PATHS = (*OF_METRICS, "/livez", "/readyz", "/v2/health/live", "/v2/health/ready", "/nothing",
         "/v2/models/m/infer")
ALL_ROLES = ["infer", "health", "metrics", "control", "reflection"]


def bearer(token):
    return [("authorization", f"Bearer {token}")] if token else []


def code_of(channel, method, metadata=(), message=b""):
    """How a call of any method ends, as far as its first answer says: (code, text)."""
    call = channel.stream_stream(method)(iter([message]), metadata=metadata, timeout=20)
    try:
        for _ in call:
            call.cancel()
            return OK, ""
    except grpc.RpcError as error:
        return error.code(), error.details()
    return call.code(), call.details()


def reflected_methods(channel, metadata=()):
    """The full names of all methods that the server's own descriptors tell."""
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)

    def ask(**what):
        request = reflection_pb2.ServerReflectionRequest(**what)
        return next(iter(stub.ServerReflectionInfo(iter([request]), metadata=metadata, timeout=20)))

    names = set()
    for service in ask(list_services="").list_services_response.service:
        answer = ask(file_containing_symbol=service.name).file_descriptor_response
        for raw in answer.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(raw)
            for described in file.service:
                if f"{file.package}.{described.name}" == service.name:
                    names |= {f"/{service.name}/{method.name}" for method in described.method}
    return names


def presented(address, authority, protocol="h2"):
    """The certificate that the server presents to a new connection, in DER."""
    host, port = address.rsplit(":", 1)
    context = ssl.create_default_context(cafile=authority.pem)
    context.set_alpn_protocols([protocol])
    with socket.create_connection((host, int(port)), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname=host) as secure:
            return secure.getpeercert(binary_form=True)


def der(path):
    return ssl.PEM_cert_to_DER_cert(pathlib.Path(path).read_text())


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(
            tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        cls.folder.chmod(0o755)
        cls.authority = Authority(cls.folder, "authority")
        cls.clients = Authority(cls.folder, "clients")
        cls.strangers = Authority(cls.folder, "strangers")
        cls.server = cls.authority.issue("server")

    def setUp(self):
        self.work = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.work.chmod(0o755)

    def tokens(self, *names):
        """The path of a file of tokens; a token's text is its name with "-secret" behind."""
        path = self.work / "tokens"
        path.write_text("# tokens\n" + "".join(
            f"{name} {hashlib.sha256(f'{name}-secret'.encode()).hexdigest()}\n" for name in names))
        path.chmod(0o600)
        return str(path)

    def serve(self, rules=None, tls=None, control=True, models=None, names=("ops", "app"), **access):
        """A daemon with TLS, if `tls` is more than None; its HTTP port is asked as "ops"."""
        listen = {}
        if tls is not None:
            certificate, key = tls.pop("pair", self.server)
            listen["tls"] = {"grpc": ["127.0.0.1:0"], "certificate": str(certificate),
                             "key": str(key), **tls}
        if control:
            listen["control"] = f"unix:{self.work}/control.sock"
        more = {}
        if rules is not None:
            more["access"] = {"tokens": self.tokens(*names), "rules": rules, **access}
        daemon = Daemon(models or [synthetic("m"), synthetic("n")], listen_more=listen, **more)
        daemon.http_headers = dict([("Authorization", "Bearer ops-secret")])
        return self.enterContext(daemon)

    def channel(self, address, client=None, authority=None):
        """A connection of its own with TLS."""
        certificate, key = client or (None, None)
        credentials = grpc.ssl_channel_credentials(
            (authority or self.authority).pem.read_bytes(),
            key and key.read_bytes(), certificate and certificate.read_bytes())
        return self.enterContext(grpc.secure_channel(address, credentials,
                                                     options=calls.CHANNEL_OPTIONS))

    def plain(self, address):
        return self.enterContext(grpc.insecure_channel(address, options=calls.CHANNEL_OPTIONS))

    def infer(self, channel, token=None, model="m"):
        """How one inference ends: its code."""
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        message = calls.request(model, {"x": calls.row_of(3)})
        future = stub.ModelInfer.future(message, metadata=bearer(token), timeout=20)
        outcome = calls.outcome_of(future)
        if outcome.code == OK:
            self.assertTrue((calls.arrays(outcome.response)["OUTPUT0"] == 3).all())
        return outcome.code

    # Without open roles.

    def test_every_method_asks_for_credentials(self):
        rules = [{"token": "ops", "roles": ALL_ROLES}, {"token": "app", "roles": ["infer"]}]
        daemon = self.serve(rules, tls={}, names=("ops", "app", "idle"))
        for channel in (self.plain(daemon.listeners[0]), self.channel(daemon.listeners[1])):
            for method in sorted(METHODS | NO_METHODS):
                for metadata in ((), bearer("wrong"), [("authorization", "Basic b3BzOm9wcw==")],
                                 bearer("ops-secret") * 2):
                    code, text = code_of(channel, method, metadata)
                    self.assertEqual(code, UNAUTHENTICATED, f"{method} {metadata} {text}")
                self.assertEqual(code_of(channel, method, bearer("idle-secret"))[0], DENIED, method)
        self.assertGreater(daemon.metric("mpsd_unauthenticated_calls_total"), len(METHODS))
        daemon.wait_logged('"event":"call_refused"')

    def test_the_list_of_methods_is_whole(self):
        """What reflection tells is what the list above has, and whoever may do all may call each."""
        daemon = self.serve([{"token": "ops", "roles": ALL_ROLES}])
        channel = self.plain(daemon.address)
        self.assertEqual(reflected_methods(channel, bearer("ops-secret")), METHODS)
        for method in sorted(METHODS):
            code, text = code_of(channel, method, bearer("ops-secret"))
            self.assertNotIn(code, (UNAUTHENTICATED, DENIED), f"{method}: {text}")
        for method in sorted(NO_METHODS):
            self.assertEqual(code_of(channel, method, bearer("ops-secret"))[0], DENIED, method)

    def test_http_asks_for_credentials_too(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]}])
        for headers, status in (({}, 401), ({"Authorization": "Bearer wrong"}, 401)):
            daemon.http_headers = headers
            for path in PATHS:
                self.assertEqual(daemon.get(path)[0], status, path)
        daemon.wait_logged('"call_refused","reason":"unauthenticated","method":"/metrics"')
        daemon.http_headers = {"Authorization": "Bearer ops-secret"}
        for path in PATHS:
            status = {"/nothing": 404, "/v2/models/m/infer": 405}.get(
                path, 200 if path in OF_METRICS else 403)
            self.assertEqual(daemon.get(path)[0], status, path)

    def test_what_is_open_is_open_and_nothing_else(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]}], open=["health"])
        channel = self.plain(daemon.address)
        health = health_pb2_grpc.HealthStub(channel)
        self.assertEqual(health.Check(health_pb2.HealthCheckRequest(service="m"), timeout=20).status,
                         health_pb2.HealthCheckResponse.SERVING)
        for name in ("ServerLive", "ServerReady", "ModelReady"):
            self.assertEqual(code_of(channel, INFERENCE + name)[0], OK, name)
        for method in METHODS - {INFERENCE + "ServerLive", INFERENCE + "ServerReady",
                                 INFERENCE + "ModelReady", "/grpc.health.v1.Health/Check",
                                 "/grpc.health.v1.Health/Watch"}:
            self.assertEqual(code_of(channel, method)[0], UNAUTHENTICATED, method)
        daemon.http_headers = {}
        self.assertEqual([daemon.get(path)[0] for path in ("/readyz", "/livez", "/metrics")],
                         [200, 200, 401])
        daemon.http_headers = {"Authorization": "Bearer ops-secret"}

    def test_without_rules_all_is_as_it_was(self):
        daemon = self.serve(control=False)
        channel = self.plain(daemon.address)
        self.assertEqual(self.infer(channel), OK)
        self.assertEqual(self.infer(channel, "anything"), OK)
        self.assertEqual(code_of(channel, "/a.B/C")[0], grpc.StatusCode.UNIMPLEMENTED)

    def test_no_client_renegotiates(self):
        """TLS 1.2 lets a client ask for handshake after handshake on one connection."""
        daemon = self.serve(tls={"http": ["127.0.0.1:0"]}, control=False)
        for address, protocol in ((daemon.listeners[1], "h2"),
                                  (daemon.http_listeners[1], "http/1.1")):
            said = self.work / protocol.replace("/", "-")
            with open(said, "wb") as file, subprocess.Popen(
                    ["openssl", "s_client", "-connect", address.split()[0], "-tls1_2", "-alpn",
                     protocol, "-CAfile", str(self.authority.pem)],
                    stdin=subprocess.PIPE, stdout=file, stderr=file) as client:
                wait_until(lambda path=said: b"Verify return code" in path.read_bytes(), 60,
                           "the handshake")
                client.stdin.write(b"R\n")
                client.stdin.flush()
                wait_until(lambda path=said: b"no renegotiation" in path.read_bytes(), 60,
                           "the refusal")
                client.kill()

    # Rules.

    def test_rules_by_role_and_model(self):
        daemon = self.serve([{"token": "ops", "roles": ["control", "metrics"]},
                             {"token": "app", "roles": ["infer"], "models": ["m"]}])
        channel = self.plain(daemon.address)
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        codes = {(token, model): self.infer(channel, f"{token}-secret", model)
                 for token in ("ops", "app") for model in ("m", "n", "unknown")}
        self.assertEqual(codes, {("ops", "m"): DENIED, ("ops", "n"): DENIED,
                                 ("ops", "unknown"): DENIED, ("app", "m"): OK,
                                 ("app", "n"): DENIED, ("app", "unknown"): DENIED})

        def code(method, message, token):
            return code_of(channel, INFERENCE + method, bearer(token), message.SerializeToString())[0]

        metadata = service_pb2.ModelMetadataRequest
        self.assertEqual(code("ModelMetadata", metadata(name="m"), "app-secret"), OK)
        self.assertEqual(code("ModelMetadata", metadata(name="n"), "app-secret"), DENIED)
        self.assertEqual(code("ModelReady", service_pb2.ModelReadyRequest(name="n"), "app-secret"),
                         DENIED)
        statistics = service_pb2.ModelStatisticsRequest()
        self.assertEqual(code("ModelStatistics", statistics, "ops-secret"), OK)
        self.assertEqual(code("ModelStatistics", statistics, "app-secret"), DENIED)
        unload = service_pb2.RepositoryModelUnloadRequest(model_name="m")
        self.assertEqual(code("RepositoryModelUnload", unload, "app-secret"), DENIED)
        self.assertEqual(code("RepositoryModelUnload", unload, "ops-secret"), UNAVAILABLE)
        answer = stub.ModelReady(service_pb2.ModelReadyRequest(name="m"),
                                 metadata=bearer("app-secret"), timeout=20)
        self.assertTrue(answer.ready)

    def test_a_door_makes_no_difference_to_a_role(self):
        """Whoever may infer may ask by either door whether the server lives, and is ready."""
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"token": "app", "roles": ["infer"]}])
        channel = self.plain(daemon.address)
        for method, path in (("ServerLive", "/v2/health/live"), ("ServerReady", "/v2/health/ready"),
                             ("ModelReady", "/v2/models/m/ready")):
            for token, code, status in (("app", OK, 200), ("ops", DENIED, 403)):
                daemon.http_headers = {"Authorization": f"Bearer {token}-secret"}
                message = service_pb2.ModelReadyRequest(name="m").SerializeToString()
                found = code_of(channel, INFERENCE + method, bearer(f"{token}-secret"),
                                message if method == "ModelReady" else b"")
                self.assertEqual((found[0], daemon.get(path)[0]), (code, status), (token, path))

    # A tenant may ask for a row a second. A request of eight rows makes it wait for seven seconds.

    LIMITED = {"rate": 1, "burst": 1}

    def ask(self, stub, headers, rows=1):
        """The code of one inference, and whether a refusal says when to come again."""
        message = calls.request("m", {"x": np.full((rows, 16), 7, np.float32)})
        future = stub.ModelInfer.future(message, metadata=headers, timeout=20)
        code = calls.outcome_of(future).code
        details = dict(future.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        return code, b"RetryInfo" in details

    def post(self, daemon, headers):
        """Status, headers and body of the answer to an inference of one row over HTTP."""
        body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 16], "data": [7] * 16}]}
        return web.ask(daemon.http, "POST", "/v2/models/m/infer", body, dict(headers))

    def test_a_token_has_a_rate(self):
        daemon = self.serve([{"token": "ops", "roles": ["infer", "metrics"]},
                             {"token": "app", "roles": ["infer"], **self.LIMITED}])
        stub = service_pb2_grpc.GRPCInferenceServiceStub(self.plain(daemon.address))
        limited, free = bearer("app-secret"), bearer("ops-secret")
        self.assertEqual(self.ask(stub, limited, rows=8)[0], OK)
        self.assertEqual(self.ask(stub, limited), (EXHAUSTED, True))
        status, headers, body = self.post(daemon, limited)
        self.assertEqual(status, 429)
        self.assertIn(b"the rate of the caller's rows is exceeded", body)
        self.assertGreaterEqual(int(headers["retry-after"]), 1)
        for _ in range(10):
            self.assertEqual(self.ask(stub, free, rows=8)[0], OK)
        self.assertEqual(self.post(daemon, free)[0], 200)

    def test_a_header_names_the_tenant(self):
        daemon = self.serve(
            [{"token": "ops", "roles": ["metrics"]}], open=["infer"],
            tenants={"header": "x-tenant", "others": self.LIMITED,
                     "named": [{"name": "a", **self.LIMITED}, {"name": "b"}]})
        stub = service_pb2_grpc.GRPCInferenceServiceStub(self.plain(daemon.address))
        first, second, unknown = ([("x-tenant", name)] for name in "abc")
        for headers in (first, second, unknown):
            self.assertEqual(self.ask(stub, headers, rows=8)[0], OK)
        for headers, code, status in ((first, EXHAUSTED, 429), (second, OK, 200),
                                      (unknown, EXHAUSTED, 429), ([], EXHAUSTED, 429)):
            self.assertEqual(self.ask(stub, headers)[0], code, headers)
            self.assertEqual(self.post(daemon, headers)[0], status, headers)

    def test_a_stream_is_held_to_its_model(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"token": "app", "roles": ["infer"], "models": ["m"]}])
        stub = service_pb2_grpc.GRPCInferenceServiceStub(self.plain(daemon.address))
        messages = [calls.request(model, {"x": calls.row_of(1)}, request_id=model)
                    for model in ("m", "n", "m")]
        answers = list(stub.ModelStreamInfer(iter(messages), metadata=bearer("app-secret"),
                                             timeout=20))
        errors = [answer.error_message for answer in answers if answer.error_message]
        self.assertEqual(errors, ["these credentials do not allow this call"])
        self.assertEqual(len(answers), 3)

    def test_tokens_are_read_again(self):
        """After SIGHUP a token that is gone opens nothing, not even a stream that it had opened."""
        rules = [{"token": "ops", "roles": ["metrics"]}, {"token": "app", "roles": ["infer"]}]
        daemon = self.serve(rules)
        channel = self.plain(daemon.address)
        stream = triton.InferenceServerClient(daemon.address)
        self.addCleanup(stream.close)
        answers = []
        done = threading.Semaphore(0)

        def keep(result, error):
            answers.append((result, error))
            done.release()

        stream.start_stream(callback=keep, headers={"authorization": "Bearer app-secret"})
        tensor = input_of("x", np.zeros((1, 16), np.float32))
        stream.async_stream_infer("m", [tensor])
        self.assertTrue(done.acquire(timeout=20))
        self.assertIsNone(answers[0][1])

        self.tokens("ops", "other")
        rules[1]["token"] = "other"
        daemon.write_config(daemon.config["models"],
                            access={**daemon.config["access"], "rules": rules})
        self.assertTrue(daemon.reload()["ok"])
        self.assertEqual(self.infer(channel, "app-secret"), UNAUTHENTICATED)
        self.assertEqual(self.infer(channel, "other-secret"), OK)
        stream.async_stream_infer("m", [tensor])
        self.assertTrue(done.acquire(timeout=20))
        self.assertIn("valid credentials are required", str(answers[1][1]))
        stream.stop_stream()

        (self.work / "tokens").chmod(0o644)
        report = daemon.reload()
        self.assertFalse(report["ok"])
        self.assertIn("0644", report["text"])
        self.assertEqual(self.infer(channel, "other-secret"), OK)

    # TLS.

    def test_tls_with_a_token(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics", "control"]},
                             {"token": "app", "roles": ["infer"]}], tls={})
        address = daemon.listeners[1]
        channel = self.channel(address)
        self.assertEqual(self.infer(channel, "app-secret"), OK)
        self.assertEqual(self.infer(channel), UNAUTHENTICATED)
        self.assertEqual(self.infer(self.channel(address, authority=self.strangers), "app-secret"),
                         UNAVAILABLE)
        self.assertEqual(self.infer(self.plain(address), "app-secret"), UNAVAILABLE)

    def https(self, address, headers, path="/v2/models/m/ready", client=None, authority=None):
        """The status of a GET over TLS."""
        context = ssl.create_default_context(cafile=str((authority or self.authority).pem))
        if client is not None:
            context.load_cert_chain(*map(str, client))
        host, port = address.split(":")
        connection = http.client.HTTPSConnection(host, int(port), timeout=20, context=context)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status

    def test_http_with_tls_and_a_token(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics", "control"]},
                             {"token": "app", "roles": ["infer"]}], tls={"http": ["127.0.0.1:0"]})
        address = daemon.http_listeners[1]
        self.assertEqual(self.https(address, {"X-Api-Key": "app-secret"}), 200)
        self.assertEqual(self.https(address, {"Authorization": "Bearer app-secret"}), 200)
        self.assertEqual(self.https(address, {"X-Api-Key": "app-secret"}, "/metrics"), 403)
        self.assertEqual(self.https(address, {}), 401)
        with self.assertRaises(ssl.SSLError):
            self.https(address, {}, authority=self.strangers)

    def last_bytes_with_tls(self, address, context, session=None):
        """(reply, session) of a GET that ends its connection; the end must be said with TLS."""
        host, port = address.split(":")
        with socket.create_connection((host, int(port)), timeout=20) as plain, context.wrap_socket(
                plain, server_hostname=host, suppress_ragged_eofs=False, session=session) as client:
            self.assertEqual(client.session_reused, session is not None)
            client.sendall(b"GET /v2/models/m/ready HTTP/1.1\r\nHost: localhost\r\n"
                           b"Connection: close\r\n\r\n")
            received = b""
            while piece := client.recv(65536):
                received += piece
            return received, client.session

    def test_http_resumes_sessions_of_clients_with_certificates(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"certificate": "app", "roles": ["infer"]}],
                            tls={"client_ca": str(self.clients.pem), "http": ["127.0.0.1:0"]})
        context = ssl.create_default_context(cafile=str(self.authority.pem))
        context.load_cert_chain(*map(str, self.clients.issue("app")))
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.maximum_version = version
            session = None
            for _ in range(2):
                reply, session = self.last_bytes_with_tls(daemon.http_listeners[1], context,
                                                          session)
                self.assertTrue(reply.startswith(b"HTTP/1.1 200 "), reply)

    def test_the_command_line_and_the_library_with_tls(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics", "control"]},
                             {"token": "app", "roles": ["infer"]}], tls={})
        address = daemon.listeners[1]
        for name in ("app", "ops", "wrong"):
            (self.work / name).write_text(f"{name}-secret\n")

        def infer(*more):
            return mpsd("infer", "m", "--input", "x=random", "--address", address, *more)

        ca = ("--tls-ca", self.authority.pem)
        done = infer(*ca, "--token-file", self.work / "app")
        self.assertEqual(done.returncode, 0, done.stderr)
        for more, code, text in (((), 69, "hangs up; it may want TLS"),
                                 (("--tls-ca", self.strangers.pem), 69,
                                  f"the certificate of the server at {address} is not trusted"),
                                 (ca, 1, "UNAUTHENTICATED"),
                                 ((*ca, "--token-file", self.work / "wrong"), 1, "UNAUTHENTICATED"),
                                 ((*ca, "--token-file", self.work / "ops"), 1, "PERMISSION_DENIED"),
                                 ((*ca, "--token-file", self.work / "none"), 66, "none")):
            done = infer(*more)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
        done = mpsd("ps", "--address", daemon.address, *ca)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(f"the server at {daemon.address} speaks no TLS", done.stderr)
        done = mpsd("ps", "--address", address, *ca, "--token-file", self.work / "ops")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = mpsd("infer", "m", "--input", "x=random", "--address", "192.0.2.1:1",
                    "--token-file", self.work / "app")
        self.assertEqual(done.returncode, 64)
        self.assertIn("without TLS", done.stderr)

    def test_the_verbs_for_texts_with_tls(self):
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello"]
        vocab = self.work / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in words))
        inputs = [tensor(name, [-1], "INT64") for name in ("input_ids", "attention_mask")]
        model = synthetic("m", inputs, text={"tokenizer": str(vocab)},
                          outputs=[tensor("embedding", [4])], parameters={"encode": "true"})
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"token": "app", "roles": ["infer"]}],
                            tls={"http": ["127.0.0.1:0"]}, models=[model])
        (self.work / "app").write_text("app-secret\n")
        (self.work / "wrong").write_text("wrong\n")
        url = f"https://{daemon.http_listeners[1]}"
        ca, token = ("--tls-ca", self.authority.pem), ("--token-file", self.work / "app")
        servers = [url]
        if knows_localhost():
            servers.append(url.replace("127.0.0.1", "localhost"))
        for server in servers:
            done = mpsd("embed", "hello", "--server", server, *ca, *token)
            self.assertEqual((done.returncode, done.stderr), (0, "mpsd: model m\n"))
        for server, more, code, text in (
                (url, (*ca,), 1, "UNAUTHENTICATED: "),
                (url, (*ca, "--token-file", self.work / "wrong"), 1, "UNAUTHENTICATED: "),
                (url, (*ca, "--token-file", self.work / "none"), 66, "none"),
                (url, ("--tls-ca", self.strangers.pem, *token), 69, "certificate"),
                (url, token, 69, "certificate"),
                (f"http://{daemon.http_listeners[1]}", (), 1, "if it wants TLS, say https://"),
                (f"http://{daemon.http}", (*ca, *token), 64, "https://")):
            done = mpsd("embed", "hello", "--server", server, *more)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

    def test_a_text_needs_no_more_than_the_right_to_infer(self):
        """The caller sees neither the status of the daemon nor the path of the tokenizer."""
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello"]
        vocab = self.work / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in words))
        inputs = [tensor(name, [-1], "INT64") for name in ("input_ids", "attention_mask")]
        models = [synthetic(name, inputs, text={"tokenizer": str(vocab)}) for name in ("m", "n")]
        daemon = self.serve([{"token": "ops", "roles": ["metrics", "control"]},
                             {"token": "app", "roles": ["infer"], "models": ["m"]}], tls={},
                            models=models)
        address = daemon.listeners[1]
        (self.work / "app").write_text("app-secret")
        how = ("--address", address, "--tls-ca", self.authority.pem, "--token-file",
               self.work / "app")
        done = mpsd("infer", "m", "--text", "Hello", "--json", *how)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["data"], [2, 4, 3])
        done = mpsd("infer", "n", "--text", "Hello", *how)
        self.assertEqual(done.returncode, 1)
        self.assertIn("these credentials do not allow this call", done.stderr)

        stub = service_pb2_grpc.GRPCInferenceServiceStub(self.channel(address))
        config = stub.ModelConfig(service_pb2.ModelConfigRequest(name="m"),
                                  metadata=bearer("app-secret"), timeout=20)
        self.assertNotIn(str(self.work), str(config))

    def test_the_command_line_says_what_tls_objects_to(self):
        rules = [{"token": "ops", "roles": ["metrics", "control"]}]
        other = self.authority.issue("other", "DNS:other.example")
        for tls, text in (({"pair": other}, "is for another name"),
                          ({"client_ca": str(self.authority.pem)}, "want a client certificate")):
            address = self.serve(rules, tls=tls, control=False).listeners[1]
            done = mpsd("ps", "--address", address, "--tls-ca", self.authority.pem)
            self.assertEqual(done.returncode, 69, done.stderr)
            self.assertIn(text, done.stderr)

    def test_tritonclient_with_tls_and_a_token(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"token": "app", "roles": ["infer"]}], tls={})
        tensor = input_of("x", calls.row_of(5))
        with contextlib.closing(triton.InferenceServerClient(
                daemon.listeners[1], ssl=True, root_certificates=str(self.authority.pem))) as client:
            headers = {"authorization": "Bearer app-secret"}
            answer = client.infer("m", [tensor], headers=headers, client_timeout=20)
            self.assertTrue((answer.as_numpy("OUTPUT0") == 5).all())
            self.assertTrue(client.is_model_ready("m", headers=headers))
            with self.assertRaises(triton.InferenceServerException) as raised:
                client.infer("m", [tensor], client_timeout=20)
            self.assertIn("UNAUTHENTICATED", raised.exception.status())

    def test_client_certificates(self):
        daemon = self.serve(
            [{"token": "ops", "roles": ["metrics"]},
             {"certificate": "app.example", "roles": ["infer"], "models": ["m"]},
             {"certificate": "boss", "roles": ["infer", "control"]}],
            tls={"client_ca": str(self.clients.pem), "http": ["127.0.0.1:0"]})
        address = daemon.listeners[1]
        app = self.clients.issue("someone", "DNS:app.example,URI:spiffe://x/app")
        boss = self.clients.issue("boss", "DNS:nobody.example")
        other = self.clients.issue("other", "DNS:other.example")
        stranger = self.strangers.issue("boss", "DNS:app.example")
        got = {name: (self.infer(self.channel(address, pair)),
                      self.infer(self.channel(address, pair), model="n"))
               for name, pair in (("app", app), ("boss", boss), ("other", other),
                                  ("stranger", stranger), ("none", None))}
        self.assertEqual(got, {"app": (OK, DENIED), "boss": (OK, OK), "other": (DENIED, DENIED),
                               "stranger": (UNAVAILABLE, UNAVAILABLE),
                               "none": (UNAVAILABLE, UNAVAILABLE)})
        got = {name: [self.https(daemon.http_listeners[1], {}, f"/v2/models/{model}/ready", pair)
                      for model in "mn"]
               for name, pair in (("app", app), ("boss", boss), ("other", other))}
        self.assertEqual(got, {"app": [200, 403], "boss": [200, 200], "other": [403, 403]})
        for pair in (stranger, None):
            with self.assertRaises(OSError):
                self.https(daemon.http_listeners[1], {}, client=pair)
        # A plain listener of the same daemon asks for a token: nobody has a name there.
        self.assertEqual(self.infer(self.plain(daemon.listeners[0])), UNAUTHENTICATED)
        done = mpsd("infer", "m", "--input", "x=random", "--address", address, "--tls-ca",
                    self.authority.pem, "--tls-cert", app[0], "--tls-key", app[1])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_client_certificates_may_be_optional(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics", "infer"]},
                             {"certificate": "*", "roles": ["infer"]}],
                            tls={"client_ca": str(self.clients.pem),
                                 "client_certificate": "optional"})
        address = daemon.listeners[1]
        shown = self.clients.issue("anyone", "DNS:x.example")
        self.assertEqual(self.infer(self.channel(address, shown)), OK)
        self.assertEqual(self.infer(self.channel(address), "ops-secret"), OK)
        self.assertEqual(self.infer(self.channel(address)), UNAUTHENTICATED)
        stranger = self.strangers.issue("anyone", "DNS:x.example")
        self.assertEqual(self.infer(self.channel(address, stranger)), UNAVAILABLE)

    def test_a_certificate_is_replaced_without_a_restart(self):
        """Half a pair changes nothing; both halves do; connections that are open go on."""
        first, second = self.authority.issue("first"), self.authority.issue("second")
        pair = (self.work / "server.pem", self.work / "server.key")

        def install(source, target):
            fresh = target.with_suffix(".new")
            fresh.write_bytes(source.read_bytes())
            fresh.chmod(0o600)
            fresh.replace(target)

        for source, target in zip(first, pair):
            install(source, target)
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]},
                             {"token": "app", "roles": ["infer"]}],
                            tls={"pair": pair, "http": ["127.0.0.1:0"]})
        address = daemon.listeners[1]
        over_http = daemon.http_listeners[1]
        open_channel = self.channel(address)
        self.assertEqual(self.infer(open_channel, "app-secret"), OK)
        self.assertEqual(presented(address, self.authority), der(first[0]))
        self.assertEqual(presented(over_http, self.authority, "http/1.1"), der(first[0]))
        install(second[0], pair[0])
        for _ in range(3):
            self.assertEqual(presented(address, self.authority), der(first[0]))
            self.assertEqual(self.infer(self.channel(address), "app-secret"), OK)
        self.assertEqual(daemon.metric("mpsd_certificates_refused_total"), 1)
        install(second[1], pair[1])
        self.assertEqual(presented(address, self.authority), der(second[0]))
        self.assertEqual(presented(over_http, self.authority, "http/1.1"), der(second[0]))
        self.assertEqual(self.infer(self.channel(address), "app-secret"), OK)
        self.assertEqual(self.infer(open_channel, "app-secret"), OK)
        self.assertEqual(daemon.metric("mpsd_certificates_taken_total"), 1)
        self.assertGreater(daemon.metric("mpsd_certificate_not_after_seconds"), 0)

    # The listeners stay until a restart.

    def test_a_reload_opens_no_socket_to_everybody(self):
        """The new config is fine where it listens; the daemon still listens where it did."""
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]}], models=[synthetic("m")],
                            tls={"grpc": ["0.0.0.0:0"]})
        plain = self.plain(daemon.address)
        self.assertEqual(code_of(plain, INFERENCE + "ServerLive")[0], UNAUTHENTICATED)
        daemon.config.pop("access")
        daemon.config["listen"].pop("tls")
        daemon.write_config([synthetic("m")])
        report = daemon.reload()
        self.assertFalse(report["ok"])
        self.assertIn("can be reached from other hosts", report["text"])
        self.assertEqual(code_of(plain, INFERENCE + "ServerLive")[0], UNAUTHENTICATED)

    def test_a_control_socket_that_is_still_to_come_takes_no_calls_away(self):
        daemon = self.serve(models=[synthetic("m")], control=False)
        plain = self.plain(daemon.address)
        self.assertEqual(code_of(plain, INFERENCE + "LogSettings")[0], OK)
        listen = {**daemon.config["listen"], "control": f"unix:{self.work}/control.sock"}
        daemon.write_config([synthetic("m")], listen=listen)
        os.kill(daemon.pid, signal.SIGHUP)
        daemon.wait_logged("config_reloaded")
        self.assertIn('"key":"listen.control"', daemon.log())
        self.assertEqual(code_of(plain, INFERENCE + "LogSettings")[0], OK)

    # The control socket.

    def test_control_calls_are_taken_on_their_socket_alone(self):
        daemon = self.serve(models=[synthetic("m")])
        control = [method for method in METHODS
                   if method.endswith(("ModelLoad", "ModelUnload", "TraceSetting", "LogSettings",
                                       "Forgive"))]
        self.assertEqual(len(control), 5)
        plain, private = self.plain(daemon.address), self.plain(daemon.config["listen"]["control"])
        for method in control:
            self.assertEqual(code_of(plain, method)[0], UNAUTHENTICATED, method)
            code, text = code_of(private, method)
            self.assertNotIn(code, (UNAUTHENTICATED, DENIED), f"{method}: {text}")
        self.assertEqual(self.infer(plain), OK)
        self.assertEqual(self.infer(private), OK)
        self.assertEqual(reflected_methods(plain), METHODS)
        self.assertEqual(daemon.listeners[-1], daemon.config["listen"]["control"])

    def test_the_control_socket_does_all_whatever_the_rules_say(self):
        daemon = self.serve([{"token": "ops", "roles": ["metrics"]}])
        private = self.plain(daemon.config["listen"]["control"])
        self.assertEqual(self.infer(private), OK)
        for method in METHODS:
            self.assertNotIn(code_of(private, method)[0], (UNAUTHENTICATED, DENIED), method)
        done = mpsd("ps", "--address", daemon.address)
        self.assertEqual((done.returncode, "UNAUTHENTICATED" in done.stderr), (1, True))

    @unittest.skipUnless(os.geteuid() == 0, "needs another user")
    def test_the_control_socket_is_closed_to_other_users(self):
        daemon = self.serve()
        path = self.work / "control.sock"
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        program = ("import socket, sys\n"
                   "s = socket.socket(socket.AF_UNIX)\n"
                   "s.settimeout(20)\n"
                   f"s.connect({str(path)!r})\n"
                   "s.send(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n')\n"
                   "sys.stdout.write(str(len(s.recv(64))))\n")

        def connect(user):
            return subprocess.run([*as_user(user), "/usr/bin/python3", "-c", program],
                                  capture_output=True, text=True, timeout=60, check=False, cwd="/")

        self.assertGreater(int(connect(None).stdout), 0)
        self.assertIn("PermissionError", connect(NOBODY).stderr)
        path.chmod(0o666)  # a careless mode: the peer is checked all the same
        done = connect(NOBODY)
        self.assertTrue(done.stdout == "0" or "ConnectionResetError" in done.stderr or
                        "BrokenPipeError" in done.stderr, done)
        daemon.wait_logged('"event":"control_connection_refused"')

    # The start.

    def test_starts_that_are_refused(self):
        def check(listen, text, access=None, code=78):
            file = self.work / "config.json"
            config = {"listen": {"grpc": ["127.0.0.1:0"], "http": "", **listen},
                      "state_dir": str(self.work / "state"), "models": [synthetic("m")]}
            if access is not None:
                config["access"] = access
            file.write_text(json.dumps(config, indent=1))
            done = mpsd("serve", "--config", file)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

        pair = {"certificate": str(self.server[0]), "key": str(self.server[1])}
        check({"grpc": ["0.0.0.0:0"]}, "can be reached from other hosts, and has no TLS")
        check({"http": "0.0.0.0:0"}, "can be reached from other hosts, and has no TLS")
        check({"tls": {"grpc": ["0.0.0.0:0"], **pair}}, "nothing says who may do what there")
        mixed = {**pair, "key": str(self.authority.issue("other")[1])}
        check({"tls": {"grpc": ["127.0.0.1:0"], **mixed}}, "is not the key of")
        check({}, "config.json:", access={"tokens": str(self.work / "none")})
        check({"control": f"unix:{self.work}/no/folder"}, "cannot listen on unix:", code=69)


if __name__ == "__main__":
    unittest.main()
