"""A client that asks for much: slow_reader.py ADDRESS MODEL CALLS

Says "sent" when its calls are on their way; whoever started it then stops it, and it reads nothing.
"""
import sys
import time

import grpc
from tritonclient.grpc import service_pb2_grpc

import calls

LIMIT_S = 120
# So that gRPC takes little of what its client does not read.
OPTIONS = [("grpc.http2.lookahead_bytes", 64 << 10), ("grpc.http2.bdp_probe", 0)]


def main():
    address, model, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with grpc.insecure_channel(address, options=calls.CHANNEL_OPTIONS + OPTIONS) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        message = calls.request(model, {"x": calls.row_of(1, width=2)})
        futures = [stub.ModelInfer.future(message, timeout=LIMIT_S) for _ in range(count)]
        print("sent", flush=True)
        time.sleep(LIMIT_S)
        for future in futures:
            future.cancel()


if __name__ == "__main__":
    main()
