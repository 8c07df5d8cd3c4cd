"""NVIDIA's Triton with a model in Python, by PyTriton: one instance, batches without a delay."""

import numpy
from peer_model import BATCH, NUMBERS, PeerModel, parse_arguments
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig

if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    MODEL = PeerModel(ARGUMENTS.path)

    @batch
    def infer(**inputs):
        """A batch."""
        return {ARGUMENTS.output: MODEL(inputs[ARGUMENTS.input])}

    config = TritonConfig(http_address="127.0.0.1", http_port=ARGUMENTS.http,
                          grpc_address="127.0.0.1", grpc_port=ARGUMENTS.grpc,
                          allow_metrics=False)
    with Triton(config=config, workspace=f"{ARGUMENTS.folder}/pytriton") as triton:
        triton.bind(ARGUMENTS.name, infer,
                    inputs=[Tensor(name=ARGUMENTS.input, dtype=NUMBERS[ARGUMENTS.datatype],
                                   shape=(ARGUMENTS.width,))],
                    outputs=[Tensor(name=ARGUMENTS.output, dtype=numpy.float32, shape=(-1,))],
                    config=ModelConfig(max_batch_size=BATCH,
                                       batcher=DynamicBatcher(max_queue_delay_microseconds=0)))
        triton.serve()
