"""Calls at the level of the wire, on the messages of an unmodified tritonclient."""
import collections
import contextlib
import itertools
import threading
import time

import grpc
import numpy as np
from tritonclient.grpc import service_pb2, service_pb2_grpc

DATATYPES = {"float32": "FP32", "float64": "FP64", "float16": "FP16", "int64": "INT64",
             "int32": "INT32", "uint32": "UINT32", "uint8": "UINT8", "bool": "BOOL"}
NUMPY_TYPES = {name: np.dtype(numpy) for numpy, name in DATATYPES.items()}
CHANNEL_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
                   ("grpc.use_local_subchannel_pool", 1)]
LIMIT_S = 30

Outcome = collections.namedtuple("Outcome", "code text response", defaults=(None,))
OK = grpc.StatusCode.OK


def request(model, tensors, request_id="", version="", outputs=(), parameters=None):
    """A ModelInferRequest with raw contents. `tensors`: {name: array}."""
    message = service_pb2.ModelInferRequest(model_name=model, model_version=version, id=request_id)
    for name, array in tensors.items():
        message.inputs.add(name=name, datatype=DATATYPES[array.dtype.name], shape=array.shape)
        message.raw_input_contents.append(array.tobytes())
    for name in outputs:
        message.outputs.add(name=name)
    for name, value in (parameters or {}).items():
        kind = {bool: "bool_param", int: "int64_param", str: "string_param"}[type(value)]
        setattr(message.parameters[name], kind, value)
    return message


def row_of(value, width=16, rows=1):
    return np.full((rows, width), value, dtype=np.float32)


def only_array(stub, model, inputs):
    """The one output of a call that must be answered."""
    (answer,) = arrays(answered(stub, request(model, inputs)).response).values()
    return answer


def arrays(response):
    """{name: array} of an answer."""
    return {output.name: np.frombuffer(raw, NUMPY_TYPES[output.datatype]).reshape(output.shape)
            for output, raw in zip(response.outputs, response.raw_output_contents, strict=True)}


@contextlib.contextmanager
def stub(address):
    """A stub on a connection of its own."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


def outcome_of(future):
    """How a call ended; waits for it."""
    try:
        response = future.result(LIMIT_S + 5)
        return Outcome(OK, "", response)
    except grpc.RpcError as error:
        return Outcome(error.code(), error.details())
    except grpc.FutureCancelledError:
        return Outcome(grpc.StatusCode.CANCELLED, "")


def infer(a_stub, message, limit_s=LIMIT_S):
    return outcome_of(a_stub.ModelInfer.future(message, timeout=limit_s))


def answer_of(future):
    """The outcome of a call that must be answered."""
    outcome = outcome_of(future)
    assert outcome.code == OK, f"{outcome.code}: {outcome.text}"
    return outcome


def answered(a_stub, message, limit_s=LIMIT_S):
    """infer(), of a call that must be answered."""
    return answer_of(a_stub.ModelInfer.future(message, timeout=limit_s))


def infer_all(a_stub, messages, limit_s=LIMIT_S):
    """All at once; the outcomes in the same order."""
    futures = [a_stub.ModelInfer.future(message, timeout=limit_s) for message in messages]
    return [outcome_of(future) for future in futures]


def all_answered(a_stub, messages, limit_s=LIMIT_S):
    """infer_all(), of calls that must be answered."""
    return [answer_of(future) for future in
            [a_stub.ModelInfer.future(message, timeout=limit_s) for message in messages]]


class Load:
    """Callers that call again as soon as they are answered, until they are told to stop."""

    def __init__(self, address, model, callers=8):
        self._address = address
        self._model = model
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self.started = 0
        self.outcomes = []
        self.answered_at = []  # by time.monotonic(), of each that was answered with OK
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(callers)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(2 * LIMIT_S)
            assert not thread.is_alive(), "a call was never answered"

    def answered(self):
        with self._lock:
            return sum(outcome.code == OK for outcome in self.outcomes)

    def _run(self):
        with stub(self._address) as a_stub:
            while not self._stopping.is_set():
                self._call(a_stub, float(next(self._numbers)))

    def _call(self, a_stub, value):
        with self._lock:
            self.started += 1
        outcome = infer(a_stub, request(self._model, {"x": row_of(value)}))
        if outcome.code == OK and not (arrays(outcome.response)["OUTPUT0"] == value).all():
            outcome = outcome._replace(code=None, text="another call's bytes")
        outcome = outcome._replace(response=None)
        with self._lock:
            self.outcomes.append(outcome)
            if outcome.code == OK:
                self.answered_at.append(time.monotonic())
