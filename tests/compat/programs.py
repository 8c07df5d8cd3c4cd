"""The clients that are programs, and the server that they are run against."""
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import calls  # noqa: E402
from daemon import Daemon  # noqa: E402
from fetched import client  # noqa: E402
from models import synthetic, tensor  # noqa: E402
from tritonclient.grpc import service_pb2  # noqa: E402

SERVICE = "inference.GRPCInferenceService"


def run(*command, limit_s=120, code=0, **more):
    """What the program printed on both of its streams; it must end with that exit code."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=limit_s, check=False, **more)
    assert done.returncode == code, f"{command}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


def small_request(model="small", **more):
    """A request as those clients write it that read JSON, and what its answer carries."""
    return {"model_name": model, "inputs": [
        {"name": "x", "datatype": "FP32", "shape": [1, 2],
         "contents": {"fp32_contents": [1, 2]}}], **more}


SMALL_ANSWER = "AACAPwAAAEA="  # 1 and 2 in FP32, as JSON has bytes


class Statistics:
    """What the server has counted of a model since this was made."""

    def __init__(self, stub, model):
        self._stub = stub
        self._model = model
        self._before = self._now()

    def _now(self):
        request = service_pb2.ModelStatisticsRequest(name=self._model)
        counted, = self._stub.ModelStatistics(request, timeout=30).model_stats
        stats = counted.inference_stats
        return {"success": stats.success.count, "fail": stats.fail.count,
                "inferences": counted.inference_count, "executions": counted.execution_count,
                "batches": sum(batch.compute_infer.count for batch in counted.batch_stats),
                "rows": sum(batch.batch_size * batch.compute_infer.count
                            for batch in counted.batch_stats)}

    def counted(self):
        return {name: value - self._before[name] for name, value in self._now().items()}

    def check(self, test, requests, rows=None):
        """It has counted what the client did, and its own sums agree: requests, rows, batches."""
        counted = self.counted()
        rows = requests if rows is None else rows
        test.assertEqual((counted["success"], counted["fail"]), (requests, 0), counted)
        test.assertEqual((counted["inferences"], counted["rows"]), (rows, rows), counted)
        test.assertEqual(counted["batches"], counted["executions"], counted)


class ProgramTest(unittest.TestCase):
    """A daemon for one client; every test of it is skipped where the client is not there."""

    program = ""
    models = (synthetic("small", [tensor("x", [2])]),)
    more = {}

    @classmethod
    def setUpClass(cls):
        cls.client = client(cls.program)
        cls.daemon = cls.enterClassContext(Daemon(list(cls.models), **cls.more))
        cls.address = cls.daemon.address
        cls.stub = cls.enterClassContext(calls.stub(cls.address))
