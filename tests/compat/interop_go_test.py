"""grpc-go's interop client as it is: the cases of gRPC over plain TCP and TLS."""
import unittest

import programs
from interop_cases import DOOR_CASES, InteropTest, go_command


class InteropGo(InteropTest):
    @classmethod
    def setUpClass(cls):
        cls.client = programs.client("grpc_interop")
        super().setUpClass()

    def command(self, port, tls, case):
        return go_command(self.client, port, case, self.server.authority if tls else None)

    def test_plain(self):
        self.run_cases(self.server.plain)

    def test_tls(self):
        self.run_cases(self.server.tls, tls=True)

    def test_the_doors_own_tasks(self):
        self.run_cases(self.server.door_plain, cases=DOOR_CASES)
        self.run_cases(self.server.door_tls, tls=True, cases=DOOR_CASES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
