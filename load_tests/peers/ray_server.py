"""Ray Serve: one replica, batches of waiting requests."""

import time

import numpy
import ray
from peer_model import BATCH, NUMBERS, WAIT_S, PeerModel, parse_arguments
from ray import serve


@serve.deployment(num_replicas=1, max_ongoing_requests=4 * BATCH)
class Model:
    """Its own JSON: {"input": [numbers]}."""

    def __init__(self, path, datatype):
        self.model, self.numbers = PeerModel(path), NUMBERS[datatype]

    @serve.batch(max_batch_size=BATCH, batch_wait_timeout_s=WAIT_S)
    async def run(self, rows):
        """All rows of a batch."""
        return list(self.model(numpy.stack(rows)))

    async def __call__(self, request):
        body = await request.json()
        return {"output": (await self.run(numpy.asarray(body["input"], self.numbers))).tolist()}


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             _temp_dir=f"{ARGUMENTS.folder}/ray")
    serve.start(http_options={"host": "127.0.0.1", "port": ARGUMENTS.http})
    serve.run(Model.bind(ARGUMENTS.path, ARGUMENTS.datatype), route_prefix="/predict")
    while True:
        time.sleep(1)
