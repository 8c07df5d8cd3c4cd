"""grpc_health_probe as it is: the server, models that are ready, not ready, unknown."""
import unittest

import programs
from programs import SERVICE, run
from models import synthetic

RPC_FAILED, NOT_SERVING = 3, 4  # its exit codes


class HealthProbe(programs.ProgramTest):
    program = "grpc_health_probe"
    models = (synthetic("a"), synthetic("b"))

    def probe(self, service, *flags, **more):
        return run(self.client, f"-addr={self.address}", f"-service={service}", *flags, **more)

    def test_ready(self):
        for service in ("", SERVICE, "a", "b"):
            self.assertIn("status: SERVING", self.probe(service))

    def test_unknown(self):
        self.assertIn("rpc failed", self.probe("nobody", code=RPC_FAILED))

    def test_nobody_listens(self):
        run(self.client, "-addr=127.0.0.1:1", "-connect-timeout=2s", code=2)


class HealthProbeOfOneThatIsNotReady(programs.ProgramTest):
    program = "grpc_health_probe"
    models = (synthetic("good"), synthetic("broken", parameters={"crash_at_load": True}))

    def test_not_ready(self):
        for service in ("", SERVICE, "broken"):
            self.assertIn("NOT_SERVING", run(self.client, f"-addr={self.address}",
                                             f"-service={service}", code=NOT_SERVING))
        self.assertIn("status: SERVING", run(self.client, f"-addr={self.address}",
                                             "-service=good"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
