"""The model as TorchServe's worker runs it: {"input": [numbers]} to {"output": [numbers]}."""

import json
import os
import sys

import numpy

sys.path.insert(0, os.environ["MPSD_PEERS"])
from peer_model import NUMBERS, PeerModel  # noqa: E402


class Handler:
    """TorchServe makes one in each worker."""

    def __init__(self):
        self.model = self.numbers = None

    def initialize(self, context):
        """Before the first batch."""
        del context
        self.model = PeerModel(os.environ["MPSD_PEER_FILE"])
        self.numbers = NUMBERS[os.environ["MPSD_PEER_DATATYPE"]]

    def handle(self, requests, context):
        """A batch."""
        del context
        bodies = [request["body"] for request in requests]
        bodies = [body if isinstance(body, dict) else json.loads(body) for body in bodies]
        rows = self.model(numpy.array([body["input"] for body in bodies], self.numbers))
        return [{"output": row.tolist()} for row in rows]
