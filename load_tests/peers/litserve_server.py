"""LitServe: one worker, batches of waiting requests."""

import litserve
import numpy
from peer_model import BATCH, NUMBERS, WAIT_S, PeerModel, parse_arguments


class Api(litserve.LitAPI):
    """Its own JSON: {"input": [numbers]}."""

    # The worker gets the object, and imports the class again.
    file = ""
    numbers = None

    def setup(self, device):
        self.model = PeerModel(self.file)

    def decode_request(self, request, **_):
        return numpy.asarray(request["input"], self.numbers)

    def batch(self, inputs):
        return numpy.stack(inputs)

    def predict(self, x, **_):
        return self.model(x)

    def unbatch(self, output):
        return list(output)

    def encode_response(self, output, **_):
        return {"output": output.tolist()}


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    api = Api(max_batch_size=BATCH, batch_timeout=WAIT_S)
    api.file, api.numbers = ARGUMENTS.path, NUMBERS[ARGUMENTS.datatype]
    server = litserve.LitServer(api, accelerator="cpu", workers_per_device=1)
    server.run(host="127.0.0.1", port=ARGUMENTS.http, num_api_servers=1,
               generate_client_file=False, log_level="warning")
