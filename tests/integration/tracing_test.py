"""Spans and the request log: what clients say of their traces, and what is told of their requests."""
import json
import os
import re
import signal
import unittest
import urllib.error
import urllib.request

import grpc

import calls
from calls import service_pb2
from daemon import Daemon, wait_until
from models import synthetic, tensor

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT_ID = "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE_ID}-{PARENT_ID}-01"
UNSAMPLED = f"00-{TRACE_ID}-{PARENT_ID}-00"
STAGES = ["queue", "dispatch", "execute", "respond"]
LIMIT_S = 30


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def infer(stub, model="m", request_id="", traceparent=None, value=1):
    """(outcome's code, initial metadata)."""
    metadata = [("traceparent", traceparent)] if traceparent else None
    message = calls.request(model, {"x": calls.row_of(value)}, request_id)
    call = stub.ModelInfer.future(message, timeout=LIMIT_S, metadata=metadata)
    code = calls.outcome_of(call).code
    return code, dict(call.initial_metadata())


def trace_settings(model="", **settings):
    request = service_pb2.TraceSettingRequest(model_name=model)
    for name, values in settings.items():
        request.settings[name].value.extend(values)
    return request


class Traces:
    """A daemon that writes spans, and what it has written."""

    def __init__(self, test, form, rate=1000, more_models=(), **more):
        self.daemon = Daemon([synthetic("m", parameters={"delay": "20ms"}), *more_models], **more)
        self.file = self.daemon.folder / "traces"
        config = json.loads(self.daemon.config_file.read_text())
        config["trace"] = {"file": str(self.file), "format": form, "rate": rate}
        self.daemon.config_file.write_text(json.dumps(config))
        test.enterContext(self.daemon)
        self.stub = test.enterContext(calls.stub(self.daemon.address))

    def lines(self, count):
        wait_until(lambda: len(lines_of(self.file)) >= count, LIMIT_S, f"{count} lines")
        return lines_of(self.file)


class Tracing(unittest.TestCase):
    def test_a_models_own_settings(self):
        """All models are traced but one; the settings of one are no other's."""
        traces = Traces(self, "lines", rate=1, more_models=[synthetic("n")])
        ask = lambda **settings: traces.stub.TraceSetting(
            trace_settings(**settings), timeout=LIMIT_S).settings
        self.assertEqual(list(ask()["trace_file"].value), ["traces"], "no folder")
        self.assertEqual(list(ask(model="m", trace_level=["OFF"])["trace_level"].value), ["OFF"])
        self.assertEqual(list(ask(model="n")["trace_level"].value), ["TIMESTAMPS"])
        for model in ("m", "n", "m"):
            self.assertEqual(infer(traces.stub, model)[0], calls.OK)
        self.assertEqual(list(ask(model="m", trace_level=[])["trace_level"].value), ["TIMESTAMPS"],
                         "that of all models")
        self.assertEqual(infer(traces.stub)[0], calls.OK)
        lines = traces.lines(2 * (1 + len(STAGES)))
        self.assertEqual([line["model"] for line in lines if line["name"] == "request"], ["n", "m"])

    def test_the_callers_span_is_echoed(self):
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            self.assertEqual(infer(stub, traceparent=SAMPLED)[1].get("traceparent"), SAMPLED)
            self.assertEqual(infer(stub, traceparent=UNSAMPLED)[1].get("traceparent"), UNSAMPLED)
            self.assertNotIn("traceparent", infer(stub)[1])
            for wrong in ("", "00", SAMPLED[:-1], SAMPLED + "0", SAMPLED.upper(),
                          f"ff-{TRACE_ID}-{PARENT_ID}-01", f"00-{'0' * 32}-{PARENT_ID}-01",
                          f"00-{TRACE_ID}-{'0' * 16}-01", SAMPLED.replace("-", "_")):
                code, metadata = infer(stub, traceparent=wrong)
                self.assertEqual(code, calls.OK)
                self.assertNotIn("traceparent", metadata, wrong)
            # An error has it too.
            code, metadata = infer(stub, "nobody", traceparent=SAMPLED)
            self.assertEqual(code, grpc.StatusCode.NOT_FOUND)
            self.assertEqual(metadata.get("traceparent"), SAMPLED)

    def test_a_streams_span_is_echoed(self):
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            stream = stub.ModelStreamInfer(iter([calls.request("m", {"x": calls.row_of(1)})]),
                                           metadata=[("traceparent", SAMPLED)], timeout=LIMIT_S)
            self.assertEqual(dict(stream.initial_metadata()).get("traceparent"), SAMPLED)
            self.assertEqual(len(list(stream)), 1)

    def test_the_spans_of_a_request(self):
        traces = Traces(self, "lines")
        infer(traces.stub)  # the first in a thousand
        own = traces.lines(5)
        infer(traces.stub, request_id="seventeen", traceparent=SAMPLED)
        spans = traces.lines(10)[5:]
        self.assertEqual([span["name"] for span in spans], ["request", *STAGES])
        whole, stages = spans[0], spans[1:]
        self.assertEqual((whole["trace_id"], whole["parent_id"]), (TRACE_ID, PARENT_ID))
        self.assertEqual((whole["model"], whole["version"], whole["id"], whole["code"]),
                         ("m", "1", "seventeen", "OK"))
        self.assertEqual({span["parent_id"] for span in stages}, {whole["span_id"]})
        self.assertEqual({span["trace_id"] for span in spans}, {TRACE_ID})
        self.assertEqual(len({span["span_id"] for span in own + spans}), 10)
        for span in own + spans:
            self.assertRegex(span["span_id"], r"^[0-9a-f]{16}$")
            self.assertRegex(span["trace_id"], r"^[0-9a-f]{32}$")
        # They follow each other without a gap, from the request's beginning to its end.
        self.assertEqual(stages[0]["begin_ns"], whole["begin_ns"])
        self.assertEqual(stages[-1]["end_ns"], whole["end_ns"])
        for sooner, later in zip(stages, stages[1:]):
            self.assertEqual(sooner["end_ns"], later["begin_ns"])
            self.assertLessEqual(sooner["begin_ns"], sooner["end_ns"])
        execute = stages[2]
        self.assertGreaterEqual(execute["end_ns"] - execute["begin_ns"], 20_000_000)

    def test_the_spans_of_a_request_over_http(self):
        traces = Traces(self, "lines")
        infer(traces.stub)  # the first in a thousand
        traces.lines(5)
        body = {"id": "eighteen", "inputs": [
            {"name": "x", "shape": [1, 16], "datatype": "FP32", "data": [1] * 16}]}
        request = urllib.request.Request(
            f"http://{traces.daemon.http}/v2/models/m/infer", json.dumps(body).encode(),
            {"traceparent": SAMPLED})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            self.assertEqual(answer.headers["traceparent"], SAMPLED)
        spans = traces.lines(10)[5:]
        self.assertEqual([span["name"] for span in spans], ["request", *STAGES])
        whole, stages = spans[0], spans[1:]
        self.assertEqual((whole["trace_id"], whole["parent_id"]), (TRACE_ID, PARENT_ID))
        self.assertEqual((whole["model"], whole["id"], whole["code"]), ("m", "eighteen", "OK"))
        self.assertEqual({span["parent_id"] for span in stages}, {whole["span_id"]})

    def test_one_in_so_many(self):
        traces = Traces(self, "lines", rate=5)
        for _ in range(20):
            infer(traces.stub)
            infer(traces.stub, traceparent=UNSAMPLED)
        infer(traces.stub, request_id="last", traceparent=SAMPLED)
        wait_until(lambda: any(line["id"] == "last" for line in lines_of(traces.file)), LIMIT_S,
                   "the last")
        whole = [line for line in lines_of(traces.file) if line["name"] == "request"]
        self.assertEqual(len(whole), 20 // 5 + 1)

    def test_a_request_that_failed(self):
        traces = Traces(self, "lines")
        infer(traces.stub, "nobody", "n", SAMPLED)
        span, = traces.lines(1)
        self.assertEqual((span["name"], span["model"], span["id"], span["code"]),
                         ("request", "nobody", "n", "NOT_FOUND"))

    def test_otlp(self):
        traces = Traces(self, "otlp")
        infer(traces.stub, request_id="seventeen", traceparent=SAMPLED)
        line, = traces.lines(1)
        resource, = line["resourceSpans"]
        self.assertEqual(resource["resource"]["attributes"],
                         [{"key": "service.name", "value": {"stringValue": "mpsd"}}])
        spans = resource["scopeSpans"][0]["spans"]
        self.assertEqual([span["name"] for span in spans], ["request", *STAGES])
        whole = spans[0]
        self.assertEqual((whole["traceId"], whole["parentSpanId"], whole["kind"], whole["status"]),
                         (TRACE_ID, PARENT_ID, 2, {"code": 1}))
        self.assertIn({"key": "request_id", "value": {"stringValue": "seventeen"}},
                      whole["attributes"])
        for span in spans:
            self.assertRegex(span["startTimeUnixNano"], r"^\d{19}$")
        self.assertEqual({span["parentSpanId"] for span in spans[1:]}, {whole["spanId"]})

    def test_settings_at_run_time(self):
        traces = Traces(self, "lines")
        stub = traces.stub
        def told(**settings):
            answer = stub.TraceSetting(trace_settings(**settings), timeout=LIMIT_S).settings
            return {name: list(value.value) for name, value in answer.items()}
        self.assertEqual(told(), {"trace_level": ["TIMESTAMPS"], "trace_rate": ["1000"],
                                  "trace_count": ["-1"], "trace_file": ["traces"],
                                  "log_frequency": ["0"], "trace_mode": ["triton"]})
        self.assertEqual(told(trace_level=["OFF"])["trace_level"], ["OFF"])
        infer(stub, traceparent=SAMPLED)
        self.assertEqual(told(trace_level=[], trace_rate=["1"], trace_count=["3"])["trace_count"],
                         ["3"])
        for i in range(5):
            infer(stub, request_id=str(i))
        self.assertEqual(told()["trace_count"], ["0"])
        whole = [line["id"] for line in traces.lines(15) if line["name"] == "request"]
        self.assertEqual(whole, ["0", "1", "2"])
        for wrong, code in (({"trace_rate": ["0"]}, "INVALID_ARGUMENT"),
                            ({"trace_rate": ["x"]}, "INVALID_ARGUMENT"),
                            ({"trace_count": ["-2"]}, "INVALID_ARGUMENT"),
                            ({"nothing": ["1"]}, "INVALID_ARGUMENT"),
                            ({"trace_level": ["TENSORS"]}, "UNIMPLEMENTED"),
                            ({"trace_mode": ["opentelemetry"]}, "UNIMPLEMENTED"),
                            ({"trace_file": ["/tmp/x"]}, "UNIMPLEMENTED")):
            before = told()
            with self.assertRaises(grpc.RpcError) as raised:
                told(trace_count=["7"], **wrong) if "trace_count" not in wrong else told(**wrong)
            self.assertEqual(raised.exception.code().name, code, wrong)
            self.assertEqual(told(), before)

    def test_a_file_that_cannot_be_written(self):
        daemon = Daemon([synthetic("m")], trace={"file": "/nowhere/at/all"})
        self.addCleanup(daemon.discard)
        with self.assertRaises(AssertionError):
            daemon.start()
        self.assertEqual(daemon.wait(), 78)


def chain():
    """A model of steps: x through `first`, then through `fails`, which fails for 666."""
    return [{"name": "chain", "max_batch_size": 8, "inputs": [tensor("x", [16])],
             "outputs": [tensor("y", [16])],
             "steps": [{"model": "first", "inputs": {"x": "x"}, "outputs": {"OUTPUT0": "t"}},
                       {"model": "fails", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "y"}}]},
            synthetic("first", parameters={"delay": "20ms"}),
            synthetic("fails", parameters={"throw_if": "666"})]


def infer_over_http(address, model, traceparent, value=1):
    """The status."""
    body = {"inputs": [{"name": "x", "shape": [1, 16], "datatype": "FP32", "data": [value] * 16}]}
    request = urllib.request.Request(f"http://{address}/v2/models/{model}/infer",
                                     json.dumps(body).encode(), {"traceparent": traceparent})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


class StepSpans(unittest.TestCase):
    """A traced request of a model of steps is one tree."""

    def serve(self, form):
        self.traces = Traces(self, form, more_models=chain())
        self.assertEqual(infer(self.traces.stub)[0], calls.OK)  # the first in a thousand
        self.before = len(self.traces.lines(5 if form == "lines" else 1))

    def call(self, door, value=1, traceparent=SAMPLED):
        if door == "http":
            return infer_over_http(self.traces.daemon.http, "chain", traceparent, value)
        return infer(self.traces.stub, "chain", traceparent=traceparent, value=value)[0].name

    def new_lines(self, count):
        """Exactly so many have come since the last time."""
        lines = self.traces.lines(self.before + count)[self.before:]
        self.before += count
        self.assertEqual(len(lines), count)
        return lines

    def check_stages(self, spans, step):
        stages = [span for span in spans if span["parent_id"] == step["span_id"]]
        self.assertEqual([stage["name"] for stage in stages], STAGES)
        self.assertEqual({stage["model"] for stage in stages}, {step["model"]})
        self.assertEqual((stages[0]["begin_ns"], stages[-1]["end_ns"]),
                         (step["begin_ns"], step["end_ns"]))

    def test_lines(self):
        self.serve("lines")
        for door, told in (("grpc", "OK"), ("http", 200)):
            self.assertEqual(self.call(door), told)
            spans = self.new_lines(11)
            self.assertEqual({span["trace_id"] for span in spans}, {TRACE_ID})
            self.assertEqual(len({span["span_id"] for span in spans}), 11)
            whole = spans[-1]
            self.assertEqual((whole["name"], whole["model"], whole["parent_id"], whole["code"]),
                             ("request", "chain", PARENT_ID, "OK"))
            first, second = [span for span in spans if span["parent_id"] == whole["span_id"]]
            self.assertEqual((first["name"], first["model"], first["version"], first["code"]),
                             ("steps[0] first", "first", "1", "OK"))
            self.assertEqual(second["name"], "steps[1] fails")
            for step in (first, second):
                self.check_stages(spans, step)
            times = [whole["begin_ns"], first["begin_ns"], first["end_ns"], second["end_ns"],
                     whole["end_ns"]]
            self.assertEqual(times, sorted(times), "a step lies inside its whole")
            self.assertGreaterEqual(second["begin_ns"], first["begin_ns"] + 20_000_000)

    def test_a_step_that_fails(self):
        self.serve("lines")
        for door, told in (("grpc", "INTERNAL"), ("http", 500)):
            self.assertEqual(self.call(door, 666), told)
            spans = self.new_lines(11)
            whole = spans[-1]
            first, second = [span for span in spans if span["parent_id"] == whole["span_id"]]
            self.assertEqual((first["name"], first["code"]), ("steps[0] first", "OK"))
            self.assertEqual((second["name"], second["code"]), ("steps[1] fails", "INTERNAL"))
            self.assertEqual((whole["model"], whole["code"]), ("chain", "INTERNAL"))

    def test_otlp(self):
        self.serve("otlp")
        for door, told in (("grpc", "OK"), ("http", 200)):
            self.assertEqual(self.call(door), told)
            first, second, whole = [line["resourceSpans"][0]["scopeSpans"][0]["spans"]
                                    for line in self.new_lines(3)]
            self.assertEqual([span["name"] for span in whole], ["request"])
            self.assertEqual((whole[0]["parentSpanId"], whole[0]["kind"]), (PARENT_ID, 2))
            for spans, name in ((first, "steps[0] first"), (second, "steps[1] fails")):
                self.assertEqual([span["name"] for span in spans], [name, *STAGES])
                step = spans[0]
                self.assertEqual({span["traceId"] for span in spans}, {TRACE_ID})
                self.assertEqual((step["parentSpanId"], step["kind"], step["status"]),
                                 (whole[0]["spanId"], 1, {"code": 1}))
                self.assertEqual({span["parentSpanId"] for span in spans[1:]}, {step["spanId"]})

    def test_steps_of_an_untraced_request_and_the_members_own_settings(self):
        """Whether a step is traced is its whole's affair."""
        self.serve("lines")
        stub = self.traces.stub
        for door in ("grpc", "http"):
            self.call(door, traceparent=UNSAMPLED)
        stub.TraceSetting(trace_settings("first", trace_level=["OFF"]), timeout=LIMIT_S)
        stub.TraceSetting(trace_settings("fails", trace_rate=["1"]), timeout=LIMIT_S)
        self.call("grpc", traceparent=UNSAMPLED)
        self.call("grpc")
        self.assertEqual(self.new_lines(11)[0]["name"], "steps[0] first")
        self.assertEqual(self.traces.daemon.metric("mpsd_requests_total", model="chain", code="OK"),
                         4)


class Requests(unittest.TestCase):
    def test_each_request_has_a_line(self):
        with Daemon([synthetic("m")], log={"requests": "requests.log"}) as daemon, \
                calls.stub(daemon.address) as stub:
            for i in range(50):
                infer(stub, request_id=f"r{i}")
            infer(stub, "nobody", "unknown", SAMPLED)
            calls.infer(stub, calls.request("m", {"x": calls.row_of(1, rows=3)}, "three"))
            file = daemon.folder / "requests.log"
            wait_until(lambda: len(lines_of(file)) >= 52, LIMIT_S, "the lines")
            lines = lines_of(file)
            self.assertEqual([line["id"] for line in lines[:50]], [f"r{i}" for i in range(50)])
            first, unknown, three = lines[0], lines[50], lines[51]
            self.assertEqual((first["event"], first["model"], first["version"], first["code"],
                              first["rows"]), ("request", "m", "1", "OK", 1))
            self.assertLessEqual(first["queue_us"], first["total_us"])
            self.assertEqual((unknown["model"], unknown["code"], unknown["trace_id"]),
                             ("nobody", "NOT_FOUND", TRACE_ID))
            self.assertEqual(three["rows"], 3)
            # A log rotator renames the file, then sends the signal.
            file.rename(daemon.folder / "old.log")
            os.kill(daemon.pid, signal.SIGUSR1)
            wait_until(file.exists, LIMIT_S, "the new file")
            infer(stub, request_id="after")
            wait_until(lambda: lines_of(file), LIMIT_S, "its line")
            self.assertEqual(lines_of(file)[0]["id"], "after")

    def test_none_unless_asked_for(self):
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            infer(stub, request_id="secret")
            self.assertFalse(re.search("secret", daemon.log()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
