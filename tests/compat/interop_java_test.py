"""grpc-java's interop client as it is, over its two transports, Netty and OkHttp. Run by hand: it
takes some minutes, and needs a JDK and Maven, with which it fetches the client into .deps/clients."""
import shutil
import subprocess
import tempfile
import unittest
import zlib

from fetched import CLIENTS
from interop_cases import DOOR_CASES, LOAD_BALANCER, PATIENCE, ROOT, InteropTest

POM = ROOT / "tests/compat/java/pom.xml"
# grpc-java's server compresses where these ask for it; its client does not look whether one did.
JAVA_CASES = (
    "client_compressed_unary", "client_compressed_unary_noprobe", "client_compressed_streaming",
    "client_compressed_streaming_noprobe", "server_compressed_unary",
    "server_compressed_streaming", "very_large_request")
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
PASSWORD = "changeit"


def fetch():
    """The folder of the client's jars."""
    folder = CLIENTS / f"interop_java-{zlib.crc32(POM.read_bytes()):08x}"
    if not folder.is_dir():
        for program in ("mvn", "java", "keytool"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"there is no {program}")
        with tempfile.TemporaryDirectory(dir=CLIENTS) as made:
            subprocess.run(["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies",
                            f"-DoutputDirectory={made}/jars", "-DincludeScope=runtime"],
                           check=True, timeout=600)
            shutil.move(f"{made}/jars", folder)
    return folder


class InteropJava(InteropTest):
    more_cases = JAVA_CASES
    case_limit_s = 300

    @classmethod
    def setUpClass(cls):
        cls.jars = fetch()
        super().setUpClass()
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        cls.trusted = f"{folder}/trusted.p12"
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "authority", "-file",
                        cls.server.authority, "-keystore", cls.trusted, "-storepass", PASSWORD],
                       check=True, capture_output=True, timeout=60)
        cls.transport = "--use_okhttp=false"

    def command(self, port, tls, case):
        flags = ["--server_host=localhost", f"--server_port={port}", f"--test_case={case}",
                 f"--use_tls={str(tls).lower()}", self.transport,
                 *(f"--{flag}" for flag in PATIENCE)]
        if case.startswith("orca"):
            flags.append(f"--service_config_json={LOAD_BALANCER}")
        return ["java", *QUICK_START, f"-Djavax.net.ssl.trustStore={self.trusted}",
                f"-Djavax.net.ssl.trustStorePassword={PASSWORD}", "-cp", f"{self.jars}/*",
                "io.grpc.testing.integration.TestServiceClient", *flags]

    def test_plain(self):
        self.run_cases(self.server.plain)

    def test_tls(self):
        self.run_cases(self.server.tls, tls=True)

    def test_the_doors_own_tasks(self):
        # Its metadata come with a large request.
        self.run_cases(self.server.door_plain, cases=set(DOOR_CASES) - {"custom_metadata"})


class InteropJavaByOkHttp(InteropJava):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.transport = "--use_okhttp=true"


if __name__ == "__main__":
    unittest.main(verbosity=2)
