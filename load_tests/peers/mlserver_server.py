"""MLServer: one worker process, batches of waiting requests."""

import json
import os
import sys

from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
from peer_model import BATCH, WAIT_S, PeerModel, parse_arguments


class PeerRuntime(MLModel):
    """The model as MLServer's worker loads it."""

    async def load(self):
        self.model = PeerModel(self.settings.parameters.extra["path"])
        return True

    async def predict(self, payload):
        rows = NumpyCodec.decode_input(payload.inputs[0])
        output = NumpyCodec.encode_output(self.settings.parameters.extra["output"],
                                          self.model(rows))
        return InferenceResponse(model_name=self.name, outputs=[output])


def write_settings(arguments):
    """MLServer reads its settings from files in a folder."""
    model = {"name": arguments.name, "implementation": "mlserver_server.PeerRuntime",
             "max_batch_size": BATCH, "max_batch_time": WAIT_S,
             "parameters": {"extra": {"path": arguments.path, "output": arguments.output}}}
    server = {"host": "127.0.0.1", "http_port": arguments.http, "grpc_port": arguments.grpc,
              "metrics_endpoint": None, "parallel_workers": 1, "debug": False}
    for name, values in (("model-settings", model), ("settings", server)):
        with open(f"{arguments.folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(values, file)


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    write_settings(ARGUMENTS)
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *sys.path])
    program = os.path.join(os.path.dirname(sys.executable), "mlserver")
    os.execv(sys.executable, [sys.executable, program, "start", ARGUMENTS.folder])
