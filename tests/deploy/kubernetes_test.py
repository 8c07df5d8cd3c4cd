"""deploy/kubernetes: the chart, the base that is made of it, and what KServe, Knative and a gateway read.

Kinds of Kubernetes itself are held against its schemas, unknown fields included. KServe's are held against
its own Python package. KEDA's, Knative's and the gateway's have schemas that let unknown fields pass. For
the inference extension there are no schemas in a registry: its fields are listed here.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/compat"))
import text_clients  # noqa: E402

text_clients.need("kubernetes_validate")
import jsonpatch  # noqa: E402
import kubernetes_validate  # noqa: E402
import kserve_parts  # noqa: E402
import metrics_names_test  # noqa: E402
import yaml  # noqa: E402

from daemon import MODELS, Daemon, mpsd  # noqa: E402
from fetched import client, fetched  # noqa: E402

FOLDER = ROOT / "deploy/kubernetes"
KUBERNETES = "1.37"
VERSION = re.search(r"^project\(mpsd VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
# Of the resource definitions of the inference extension, release 1.0 for the pool.
INFERENCE = {
    "InferencePool": ("inference.networking.k8s.io/v1", {
        "selector": {"matchLabels"}, "targetPorts": {"number"},
        "endpointPickerRef": {"group", "kind", "name", "port", "failureMode"}}),
    "InferenceObjective": ("inference.networking.x-k8s.io/v1alpha2", {
        "priority": set(), "poolRef": {"group", "kind", "name"}}),
}
# Values, and what they are there for.
VARIANTS = {
    "as it is": [],
    "models from a claim, and an autoscaler": [
        "models.persistentVolumeClaim=models", "autoscaling.kind=hpa"],
    "models from an image, a gpu and shared memory": [
        "models.image=registry.example/models:1", "gpus=1", "sharedMemory=1Gi",
        "nodeSelector.gpu=yes", "tolerations[0].key=gpu"],
    "KEDA, and clients of another namespace": [
        "autoscaling.kind=keda", "networkPolicy.clients[0].namespaceSelector.matchLabels.a=b"],
    "no network policy, and a ConfigMap that is there": [
        "networkPolicy.enabled=false", "configMap=mine"],
}


def run(*words, **more):
    return subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=120,
                          check=False, **more)


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def read(name):
    return documents((FOLDER / name).read_text())


def only(found, kind):
    (one,) = [document for document in found if document["kind"] == kind]
    return one


def seconds(duration):
    return int(re.fullmatch(r"(\d+)s", duration)[1])


def page_blocks():
    """The YAML of docs/fleet.md."""
    page = (ROOT / "docs/fleet.md").read_text()
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)]


def check_pod(spec):
    kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                                  "spec": spec}, KUBERNETES, strict=True)


def check_schemas(found):
    """KEDA's, Knative's and the gateway's kinds."""
    folder = fetched("kubernetes_models", "node_modules").parent
    script = (ROOT / "tests/deploy/kubernetes/schemas.mjs").read_text()
    done = run(shutil.which("node"), "--input-type=module", "--eval", script, cwd=folder,
               input=json.dumps(found))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(found), done.stdout


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helm = client("helm")

    def render(self, *values):
        done = run(self.helm, "template", "mpsd", FOLDER / "chart",
                   *(word for value in values for word in ("--set", value)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return documents(done.stdout)

    def refused(self, value):
        done = run(self.helm, "template", "mpsd", FOLDER / "chart", "--set", value)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def config(self, *values):
        return json.loads(only(self.render(*values), "ConfigMap")["data"]["mpsd.json"])

    def pod(self, *values):
        return only(self.render(*values), "Deployment")["spec"]["template"]["spec"]

    def test_helm_finds_no_fault(self):
        done = run(self.helm, "lint", "--strict", FOLDER / "chart")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_variant_is_what_kubernetes_takes(self):
        for name, values in VARIANTS.items():
            for document in self.render(*values):
                with self.subTest(name, kind=document["kind"]):
                    if document["kind"] == "ScaledObject":
                        check_schemas([document])
                    else:
                        kubernetes_validate.validate(document, KUBERNETES, strict=True)

    def test_values_that_it_does_not_know_are_refused(self):
        for value in ("gpu=1", "stop.preStop=5", "models.claim=a", "autoscaling.kind=cpu",
                      "replicas=two"):
            self.assertIn(value.split("=")[0].split(".")[-1], self.refused(value))

    def test_each_value_has_a_place_in_the_schema(self):
        def missing(values, schema):
            for name, value in values.items():
                found = schema["properties"].get(name)
                if found is None:
                    yield name
                elif "properties" in found:
                    yield from missing(value, found)
        (values,) = read("chart/values.yaml")
        schema = json.loads((FOLDER / "chart/values.schema.json").read_text())
        self.assertEqual(list(missing(values, schema)), [])

    def test_its_config_is_one_that_mpsd_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mpsd.json"
            file.write_text(json.dumps(self.config(
                "config.limits.calls=100", "config.models[0].name=m",
                f"config.models[0].path={MODELS / 'minilm'}")))
            checked = mpsd("check", file)
        self.assertIn("is right: 1 model", checked.stdout, checked.stderr)

    def test_the_addresses_are_the_ports_that_probes_and_services_name(self):
        listen = self.config()["listen"]
        self.assertEqual(listen["grpc"], ["0.0.0.0:8001"])
        self.assertEqual(listen["http"], ["0.0.0.0:8000", "0.0.0.0:8002"])
        (container,) = self.pod()["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(ports, {"grpc": 8001, "http": 8000, "metrics": 8002})
        for document in self.render():
            if document["kind"] == "Service":
                for port in document["spec"]["ports"]:
                    self.assertEqual(port["port"], ports[port["targetPort"]])
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertIn(container[probe]["httpGet"]["port"], ports)

    def test_a_stop_ends_before_kubernetes_kills(self):
        for values in ([], ["stop.drainSeconds=300", "stop.lameDuckSeconds=20"]):
            limits = self.config(*values)["limits"]
            stop_s = seconds(limits["lame_duck"]) + seconds(limits["drain_timeout"])
            self.assertEqual(self.pod(*values)["terminationGracePeriodSeconds"], stop_s + 10)
        self.assertIn("comes from the value stop", self.refused("config.limits.drain_timeout=1h"))

    def test_another_config_makes_other_pods(self):
        def annotations(*values):
            template = only(self.render(*values), "Deployment")["spec"]["template"]
            return template["metadata"]["annotations"]
        self.assertEqual(annotations(), annotations("replicas=3"))
        self.assertNotEqual(annotations(), annotations("stop.drainSeconds=31"))

    def test_an_autoscaler_sets_the_replicas_alone(self):
        for kind in ("hpa", "keda"):
            deployment = only(self.render(f"autoscaling.kind={kind}"), "Deployment")
            self.assertNotIn("replicas", deployment["spec"])

    def test_the_metrics_are_ones_that_mpsd_has(self):
        for by, name in (("queue", "mpsd_queue_requests"), ("slo", "mpsd_replicas_needed")):
            for kind in ("hpa", "keda"):
                text = json.dumps(self.render(f"autoscaling.kind={kind}", f"autoscaling.by={by}"))
                self.assertEqual(set(metrics_names_test.NAME.findall(text)), {name})
            self.assertIn(name, metrics_names_test.names_of_source())

    def test_by_the_slo_a_pod_is_one_replica(self):
        keda = only(self.render("autoscaling.kind=keda", "autoscaling.by=slo"), "ScaledObject")
        (trigger,) = keda["spec"]["triggers"]
        self.assertEqual(trigger["metadata"]["threshold"], "1")
        self.assertIn("max(sum by (model) (mpsd_replicas_needed{", trigger["metadata"]["query"])

    def test_a_service_of_its_name_sets_no_variables(self):
        self.assertIs(self.pod()["enableServiceLinks"], False)

    def test_the_version_is_that_of_the_sources(self):
        (chart,) = read("chart/Chart.yaml")
        self.assertEqual((chart["version"], chart["appVersion"]), (VERSION, VERSION))
        images = set(re.findall(r"registry\.example/mpsd:([\w.]+)", "".join(
            file.read_text() for file in FOLDER.rglob("*.yaml"))))
        self.assertEqual(images, {VERSION})

    def test_the_base_is_made_of_the_chart(self):
        with tempfile.TemporaryDirectory() as folder:
            made = run(FOLDER / "render.sh", folder, env={**os.environ, "HELM": self.helm})
            self.assertEqual(made.returncode, 0, made.stderr)
            for name in ("mpsd.yaml", "mpsd.json"):
                self.assertEqual((pathlib.Path(folder) / name).read_text(),
                                 (FOLDER / "base" / name).read_text(),
                                 "run deploy/kubernetes/render.sh, and commit what it writes")


    def test_the_values_of_the_page_are_taken(self):
        (values,) = [block for block in page_blocks() if "models" in block]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(values, file)
            done = run(self.helm, "template", "mpsd", FOLDER / "chart", "-f", file.name)
        found = documents(done.stdout)
        config = json.loads(only(found, "ConfigMap")["data"]["mpsd.json"])
        self.assertEqual(config["models"], values["config"]["models"])
        (mount,) = [mount for mount in only(found, "Deployment")["spec"]["template"]["spec"][
            "containers"][0]["volumeMounts"] if mount["name"] == "models"]
        self.assertTrue(config["models"][0]["path"].startswith(mount["mountPath"]))


class Base(unittest.TestCase):
    def test_it_names_files_that_are_there(self):
        (kustomization,) = read("base/kustomization.yaml")
        (generator,) = kustomization["configMapGenerator"]
        for name in (*kustomization["resources"], *generator["files"]):
            self.assertTrue((FOLDER / "base" / name).exists(), name)

    def test_its_config_map_is_the_one_that_pods_mount(self):
        (kustomization,) = read("base/kustomization.yaml")
        (generator,) = kustomization["configMapGenerator"]
        pod = only(read("base/mpsd.yaml"), "Deployment")["spec"]["template"]["spec"]
        self.assertEqual(pod["volumes"][0]["configMap"]["name"], generator["name"])

    def test_mpsd_takes_its_config(self):
        checked = mpsd("check", FOLDER / "base/mpsd.json")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    @unittest.skipUnless(shutil.which("kubectl"), "without kubectl")
    def test_kustomize_builds_it(self):
        for folder in ("base", "kserve/huggingface", "kserve/pytorch"):
            built = run("kubectl", "kustomize", FOLDER / folder)
            self.assertEqual(built.returncode, 0, built.stderr)


def serving_runtime(name):
    """As kustomize makes it."""
    (runtime,) = read("kserve/huggingface/mpsd.yaml")
    if name == "pytorch":
        (kustomization,) = read("kserve/pytorch/kustomization.yaml")
        (patch,) = kustomization["patches"]
        runtime = jsonpatch.apply_patch(runtime, yaml.safe_load(patch["patch"]))
        runtime["metadata"]["name"] += kustomization["nameSuffix"]
    return runtime


class KServeRuntimes(unittest.TestCase):
    def test_kserve_knows_every_field(self):
        for name in ("huggingface", "pytorch"):
            kserve_parts.check(serving_runtime(name), "V1alpha1ClusterServingRuntime")
        (service,) = [block for block in page_blocks() if block.get("kind") == "InferenceService"]
        kserve_parts.check(service, "V1beta1InferenceService")

    def test_its_containers_are_what_kubernetes_takes(self):
        for name in ("huggingface", "pytorch"):
            spec = serving_runtime(name)["spec"]
            check_pod({key: spec[key] for key in ("containers", "volumes")})

    def test_each_serves_another_format(self):
        formats = [serving_runtime(name)["spec"]["supportedModelFormats"][0]["name"]
                   for name in ("huggingface", "pytorch")]
        self.assertEqual(formats, ["huggingface", "pytorch"])


class ServedByRuntime(Daemon):
    """A daemon with the flags of a runtime, for the model "sea" at `path` and on free ports."""

    def __init__(self, runtime, path, *more):
        environment = {"MPSD_PORT": "tcp://10.0.0.1:8001", "MPSD_DEVICE": "cpu"}
        super().__init__([], environment=environment)
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        self.state_dir = self.folder / f"mpsd-{os.getuid()}-0"
        (container,) = runtime["spec"]["containers"]
        self._arguments = [*container["args"][1:], *more]
        self._path = path

    def arguments(self):
        def here(word):
            word = word.replace("{{.Name}}", "sea").replace("0.0.0.0", "127.0.0.1")
            word = re.sub(r"^/mnt/models(/model\.pt)?$", str(self._path), word)
            return re.sub(r"(port)=\d+$", r"\1=0", word)
        return [here(word) for word in self._arguments]


class KServeCommand(unittest.TestCase):
    """The flags are those of the manifests. Host and ports differ, and where the model lies."""

    def check(self, daemon):
        self.assertEqual(daemon.get("/v2/models/sea/ready")[0], 200)
        self.assertEqual(daemon.get("/readyz")[0], 200)
        for address in (daemon.address, daemon.http):  # the second speaks gRPC's unary calls too
            self.assertTrue(kserve_parts.model_is_ready(address, "sea"), address)

    def test_a_folder_of_hugging_faces(self):
        with ServedByRuntime(serving_runtime("huggingface"), MODELS / "minilm") as daemon:
            self.check(daemon)
            (one,) = kserve_parts.embeddings(f"http://{daemon.http}/v1", "sea", ["How far?"])
            self.assertEqual(len(one), 384)

    def test_a_file_of_torchscript(self):
        with ServedByRuntime(serving_runtime("pytorch"), MODELS / "mlp_256x512x4.pt",
                             "--input=x:FP32[-1,256]") as daemon:
            self.check(daemon)


class Knative(unittest.TestCase):
    def setUp(self):
        (self.service,) = read("knative/service.yaml")
        self.spec = self.service["spec"]["template"]["spec"]

    def test_it_has_the_form_that_knative_takes(self):
        check_schemas([self.service])
        self.assertEqual(set(self.spec), {"containerConcurrency", "containers", "volumes"})
        check_pod({key: self.spec[key] for key in ("containers", "volumes")})

    def test_it_has_the_one_port_that_knative_allows(self):
        (container,) = self.spec["containers"]
        (port,) = container["ports"]
        self.assertEqual(port["name"], "h2c")
        # Knative sets PORT to this number, and mpsd serves HTTP there unless a flag names another.
        self.assertFalse([word for word in container["args"] if "http-port" in word])
        for probe in ("readinessProbe", "livenessProbe"):
            self.assertEqual(container[probe]["httpGet"]["port"], port["containerPort"])


class Gateway(unittest.TestCase):
    def setUp(self):
        self.found = read("gateway/inference.yaml")

    def test_the_route_has_the_form_that_the_gateway_takes(self):
        check_schemas([only(self.found, "HTTPRoute")])

    def test_pool_and_objective_have_fields_that_the_extension_knows(self):
        for kind, (version, fields) in INFERENCE.items():
            document = only(self.found, kind)
            self.assertEqual(document["apiVersion"], version)
            for name, value in document["spec"].items():
                (part,) = value if isinstance(value, list) else [value]
                self.assertLessEqual(set(part) if isinstance(part, dict) else set(), fields[name])

    def test_they_name_each_other_and_the_pods(self):
        pool = only(self.found, "InferencePool")
        self.assertEqual(only(self.found, "InferenceObjective")["spec"]["poolRef"]["name"],
                         pool["metadata"]["name"])
        (rule,) = only(self.found, "HTTPRoute")["spec"]["rules"]
        self.assertEqual(rule["backendRefs"][0]["name"], pool["metadata"]["name"])
        deployment = only(read("base/mpsd.yaml"), "Deployment")
        self.assertEqual(pool["spec"]["selector"]["matchLabels"],
                         deployment["spec"]["selector"]["matchLabels"])
        self.assertEqual(pool["spec"]["targetPorts"], [{"number": 8000}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
