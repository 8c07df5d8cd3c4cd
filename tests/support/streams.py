"""Streams of an unmodified tritonclient."""
import queue

import tritonclient.grpc as triton

import calls

LIMIT_S = 30


def input_of(name, array, datatype=None):
    """An input with the array's bytes."""
    made = triton.InferInput(name, list(array.shape),
                             datatype or calls.DATATYPES[array.dtype.name])
    made.set_data_from_numpy(array)
    return made


class Stream:
    """An open stream: ask() puts a request in, next() takes what comes as (result, error).

    It has a client of its own unless it is given one.
    """

    def __init__(self, address=None, client=None, headers=None, compression=None, **tls):
        self._owned = client is None
        self._client = client or triton.InferenceServerClient(address, **tls)
        self._answers = queue.Queue()
        self._client.start_stream(lambda result, error: self._answers.put((result, error)),
                                  headers=headers, compression_algorithm=compression)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._client.stop_stream()
        if self._owned:
            self._client.close()

    def ask(self, model, tensors, **more):
        """`tensors`: {name: array}, or inputs of tritonclient's."""
        if isinstance(tensors, dict):
            tensors = [input_of(name, array) for name, array in tensors.items()]
        self._client.async_stream_infer(model, tensors, **more)

    def next(self):
        return self._answers.get(timeout=LIMIT_S)

    def answer(self):
        """The next one, which is no error."""
        result, error = self.next()
        assert error is None, error
        return result

    def register(self, name, key, byte_size):
        self._client.register_system_shared_memory(name, key, byte_size)

    def cancel(self):
        self._client.stop_stream(cancel_requests=True)

    def empty(self):
        return self._answers.empty()
