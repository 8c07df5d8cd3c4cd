"""deploy/kubernetes on a real API server of Kubernetes: a kube-apiserver and Debian's etcd, and no node.

By hand after tests/deploy/kubernetes/build_api_server.sh; skipped without what that builds. Kinds of KServe, KEDA,
Knative and the inference gateway are left out: their definitions are in no registry.
"""
import contextlib
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kubernetes_test as manifests  # noqa: E402
from kubernetes_test import FOLDER, VARIANTS, only, read, run  # noqa: E402

from daemon import free_ports, wait_until  # noqa: E402
from fetched import client, fetched  # noqa: E402

LIMIT_S = 120
PLURALS = {"ConfigMap": "configmaps", "Deployment": "deployments", "Service": "services",
           "NetworkPolicy": "networkpolicies", "PodDisruptionBudget": "poddisruptionbudgets", "ServiceAccount": "serviceaccounts",
           "HorizontalPodAutoscaler": "horizontalpodautoscalers", "Pod": "pods", "Namespace": "namespaces"}


class ApiServer:
    def __init__(self, folder):
        self._folder = folder
        etcd, peers, port = free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        store = f"http://127.0.0.1:{etcd}"
        self._commands = [
            [shutil.which("etcd"), "--data-dir", folder / "etcd", "--listen-client-urls", store,
             "--advertise-client-urls", store, "--listen-peer-urls", f"http://127.0.0.1:{peers}"],
            [client("kube_apiserver"), f"--etcd-servers={store}", f"--secure-port={port}", "--bind-address=127.0.0.1",
             "--advertise-address=127.0.0.1", f"--cert-dir={folder}", f"--token-auth-file={folder}/tokens",
             "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16",
             "--service-account-issuer=https://test", f"--service-account-key-file={folder}/key",
             f"--service-account-signing-key-file={folder}/key", "--disable-admission-plugins=ServiceAccount"]]  # no controller makes the accounts
        self.kubeconfig = folder / "kubeconfig"

    @contextlib.contextmanager
    def running(self):
        run("openssl", "genrsa", "-out", self._folder / "key", "2048")
        (self._folder / "tokens").write_text("secret,admin,admin,system:masters\n")
        with contextlib.ExitStack() as stack:
            for number, command in enumerate(self._commands):
                log = stack.enter_context(open(self._folder / f"log{number}", "wb"))
                process = stack.enter_context(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))
                stack.callback(process.terminate)
            self.kubeconfig.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "a",
                "clusters": [{"name": "a", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
                "users": [{"name": "a", "user": {"token": "secret"}}],
                "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]}))
            wait_until(lambda: self.call("GET", "/readyz")[0] == 200, LIMIT_S, "the API server")
            yield self

    def call(self, method, path, body=None):
        """(status, text)."""
        headers = {"Authorization": "Bearer secret", "Content-Type": "application/apply-patch+yaml"}
        request = urllib.request.Request(self.url + path, method=method, headers=headers,
                                         data=body and json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S, context=ssl._create_unverified_context()) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def apply(self, document, namespace="default"):
        """As `kubectl apply --server-side --validate=strict`."""
        version, kind = document["apiVersion"], document["kind"]
        place = f"/api/{version}" if version == "v1" else f"/apis/{version}"
        within = "" if kind == "Namespace" else f"/namespaces/{namespace}"
        name = document["metadata"]["name"]
        asked = "fieldManager=test&fieldValidation=Strict"
        return self.call("PATCH", f"{place}{within}/{PLURALS[kind]}/{name}?{asked}", document)


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helm = client("helm")
        fetched("kube_apiserver", "kube_apiserver")
        if shutil.which("etcd") is None:
            raise unittest.SkipTest("there is no etcd")
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        cls.server = cls.enterClassContext(ApiServer(folder).running())

    def taken(self, answer):
        self.assertIn(answer[0], (200, 201), answer[1])
        return json.loads(answer[1])

    def run_helm(self, *words):
        done = run(self.helm, *words, "--kubeconfig", self.server.kubeconfig)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_helm_installs_upgrades_and_removes_each_variant(self):
        for number, (name, values) in enumerate(VARIANTS.items()):
            if "autoscaling.kind=keda" in values:
                continue
            with self.subTest(name):
                more = [word for value in values for word in ("--set", value)]
                space = ("--namespace", f"variant{number}")
                self.run_helm("install", "mpsd", FOLDER / "chart", "--create-namespace", *space, *more)
                self.run_helm("upgrade", "mpsd", FOLDER / "chart", *space, *more, "--set", "stop.drainSeconds=31")
                path = f"/apis/apps/v1/namespaces/variant{number}/deployments"
                deployment, = self.taken(self.server.call("GET", path))["items"]
                self.assertEqual(deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 46)
                self.run_helm("uninstall", "mpsd", *space)
                self.assertEqual(self.taken(self.server.call("GET", path))["items"], [])

    def test_the_base_is_taken_without_an_unknown_field(self):
        for document in read("base/mpsd.yaml"):
            self.taken(self.server.apply(document))
        document = only(read("base/mpsd.yaml"), "Deployment")
        document["spec"]["replicaz"] = 1
        self.assertIn("replicaz", self.server.apply(document)[1])

    def test_its_pods_meet_the_standard_restricted(self):
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        self.taken(self.server.apply({"apiVersion": "v1", "kind": "Namespace",
                                      "metadata": {"name": "safe", "labels": labels}}))
        template = only(read("base/mpsd.yaml"), "Deployment")["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
               "metadata": {**template["metadata"], "name": "a"}}
        self.taken(self.server.apply(pod, "safe"))
        pod["metadata"]["name"] = "b"
        pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        self.assertIn("violates PodSecurity", self.server.apply(pod, "safe")[1])

    def test_the_containers_of_kserve_are_taken(self):
        for name in ("huggingface", "pytorch"):
            spec = manifests.serving_runtime(name)["spec"]
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                   "spec": {key: spec[key] for key in ("containers", "volumes")}}
            self.taken(self.server.apply(pod))


if __name__ == "__main__":
    unittest.main(verbosity=2)
