"""Reflection, settings, shared memory: what every client may ask beside inference."""
import queue
import tempfile
import unittest

import grpc
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import \
    ProtoReflectionDescriptorDatabase
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon
from models import synthetic

UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
SERVICES = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection", "inference.GRPCInferenceService",
            "mpsd.control.v1.Control", "xds.service.orca.v3.OpenRcaService"]
# Services that no config turns off.
EXTENSIONS = ["binary_tensor_data", "classification", "logging", "model_configuration",
              "model_repository", "parameters", "schedule_policy", "sequence", "statistics"]


class ControlCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([synthetic("m")], server_name="gpu-7",
                                                  server_version="2.60.0"))
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.daemon.address))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def refused(self, call, message, code, text):
        with self.assertRaises(grpc.RpcError) as raised:
            call(message, timeout=10)
        self.assertEqual(raised.exception.code(), code)
        self.assertIn(text, raised.exception.details())

    # Reflection.

    def test_services(self):
        self.assertEqual(sorted(ProtoReflectionDescriptorDatabase(self.channel).get_services()),
                         SERVICES)

    def test_a_client_without_proto_files(self):
        """Learns every service, its methods and their messages, and can call one of them."""
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        for name in SERVICES:
            service = pool.FindServiceByName(name)
            self.assertGreater(len(service.methods), 0)
            for method in service.methods:
                self.assertIsNotNone(method.input_type.full_name)
        infer = pool.FindServiceByName("inference.GRPCInferenceService")
        self.assertEqual(len(infer.methods), 20)
        request = pool.FindMessageTypeByName("inference.ModelInferRequest")
        self.assertEqual(request.fields_by_name["raw_input_contents"].number, 7)

    def test_every_method_that_reflection_lists_is_there(self):
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        left_to_others = {"RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload"}
        for name in SERVICES:
            for method in pool.FindServiceByName(name).methods:
                if method.name in left_to_others:
                    continue
                call = self.channel.stream_stream(f"/{name}/{method.name}")
                try:
                    list(call(iter([b""]), timeout=1))
                except grpc.RpcError as error:
                    self.assertNotIn("unknown method", error.details() or "", method.full_name)

    def test_what_is_not_there(self):
        stub = reflection_pb2_grpc.ServerReflectionStub(self.channel)
        questions = [reflection_pb2.ServerReflectionRequest(file_containing_symbol="no.Such"),
                     reflection_pb2.ServerReflectionRequest(file_by_filename="/etc/passwd"),
                     reflection_pb2.ServerReflectionRequest()]
        answers = list(stub.ServerReflectionInfo(iter(questions), timeout=10))
        self.assertEqual([answer.error_response.error_code for answer in answers], [5, 5, 3])

    def test_both_packages_answer_alike(self):
        question = reflection_pb2.ServerReflectionRequest(
            file_containing_symbol="inference.ModelInferRequest").SerializeToString()
        answers = [list(self.channel.stream_stream(
            f"/grpc.reflection.{package}.ServerReflection/ServerReflectionInfo")(
                iter([question, question]), timeout=10)) for package in ("v1", "v1alpha")]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len(answers[0]), 2)
        files = reflection_pb2.ServerReflectionResponse.FromString(answers[0][0])
        names = [descriptor_pb2.FileDescriptorProto.FromString(file).name
                 for file in files.file_descriptor_response.file_descriptor_proto]
        self.assertEqual(sorted(names), ["proto/inference.proto", "proto/model_config.proto"])

    def test_reflection_turned_off(self):
        daemon = self.enterContext(Daemon([synthetic("m")], listen_more={"reflection": "off"}))
        channel = self.enterContext(grpc.insecure_channel(daemon.address))
        with self.assertRaises(grpc.RpcError) as raised:
            ProtoReflectionDescriptorDatabase(channel).get_services()
        self.assertEqual(raised.exception.code(), UNIMPLEMENTED)

    def test_stop_with_an_open_conversation(self):
        daemon = self.enterContext(Daemon([synthetic("m")]))
        channel = self.enterContext(grpc.insecure_channel(daemon.address))
        questions = queue.Queue()
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        answers = stub.ServerReflectionInfo(iter(questions.get, None))
        questions.put(reflection_pb2.ServerReflectionRequest(list_services="*"))
        next(answers)
        daemon.terminate()
        # If nobody ended the call, it would last for limits.drain_timeout, 30 s.
        self.assertEqual(daemon.wait(15), 0)
        questions.put(None)

    # Settings.

    def log_settings(self, **settings):
        request = service_pb2.LogSettingsRequest()
        for name, value in settings.items():
            kind = {bool: "bool_param", int: "uint32_param", str: "string_param"}[type(value)]
            setattr(request.settings[name], kind, value)
        return request

    def test_log_settings(self):
        self.addCleanup(lambda: self.stub.LogSettings(self.log_settings(
            log_info=True, log_warning=True, log_error=True, log_verbose_level=0,
            log_format="default")))
        before = self.stub.LogSettings(service_pb2.LogSettingsRequest()).settings
        self.assertTrue(before["log_info"].bool_param)
        self.assertEqual(before["log_verbose_level"].uint32_param, 0)
        self.assertEqual(before["log_format"].string_param, "default")
        after = self.stub.LogSettings(self.log_settings(log_verbose_level=2)).settings
        self.assertEqual(after["log_verbose_level"].uint32_param, 2)
        after = self.stub.LogSettings(self.log_settings(
            log_info=False, log_error=False, log_format="ISO8601")).settings
        self.assertEqual((after["log_info"].bool_param, after["log_warning"].bool_param,
                          after["log_error"].bool_param), (False, True, False))
        self.assertEqual(after["log_verbose_level"].uint32_param, 2, "each is a switch of its own")
        self.assertEqual(after["log_format"].string_param, "ISO8601")
        read = self.stub.LogSettings(service_pb2.LogSettingsRequest()).settings
        self.assertEqual(read, after)

    def test_log_settings_that_are_refused(self):
        call = self.stub.LogSettings
        self.refused(call, self.log_settings(log_file="/tmp/x"), UNIMPLEMENTED,
                     "log file location can not be updated through network protocol")
        self.refused(call, self.log_settings(nothing=True), INVALID,
                     "unknown log setting 'nothing'")
        self.refused(call, self.log_settings(log_info="yes"), INVALID, "expect a bool value")
        self.refused(call, self.log_settings(log_format="xml"), INVALID,
                     "log_format can only be 'default' or 'ISO8601'")
        # A refused request is not applied in part.
        self.refused(call, self.log_settings(log_verbose_level=1, nothing=True), INVALID, "unknown")
        read = call(service_pb2.LogSettingsRequest()).settings
        self.assertEqual(read["log_verbose_level"].uint32_param, 0)

    def trace_settings(self, **settings):
        request = service_pb2.TraceSettingRequest()
        for name, values in settings.items():
            request.settings[name].value.extend(values)
        return request

    def test_trace_settings(self):
        answer = self.stub.TraceSetting(service_pb2.TraceSettingRequest()).settings
        self.assertEqual(list(answer["trace_level"].value), ["OFF"])
        self.assertEqual(self.stub.TraceSetting(
            self.trace_settings(trace_level=["OFF"], trace_rate=[])).settings, answer)
        call = self.stub.TraceSetting
        self.refused(call, self.trace_settings(trace_file=["/tmp/x"]), UNIMPLEMENTED,
                     "trace file location can not be updated through network protocol")
        self.refused(call, self.trace_settings(trace_level=["TIMESTAMPS"]), UNIMPLEMENTED,
                     "writes no traces")
        self.refused(call, self.trace_settings(nothing=["1"]), INVALID, "unknown trace setting")

    def test_trace_settings_of_a_model(self):
        answer = self.stub.TraceSetting(service_pb2.TraceSettingRequest(model_name="m")).settings
        self.assertEqual(list(answer["trace_level"].value), ["OFF"])
        self.refused(self.stub.TraceSetting, service_pb2.TraceSettingRequest(model_name="nobody"),
                     INVALID, "Request for unknown model : nobody")

    # Shared memory.

    def test_shared_memory_is_refused(self):
        for kind in ("System", "Cuda"):
            for verb in ("Status", "Register", "Unregister"):
                request = getattr(service_pb2, f"{kind}SharedMemory{verb}Request")(name="region")
                self.refused(getattr(self.stub, f"{kind}SharedMemory{verb}"), request,
                             UNIMPLEMENTED, "shared memory regions of clients are not")

    def test_the_list_of_all_where_nothing_can_be_registered(self):
        for kind in ("System", "Cuda"):
            request = getattr(service_pb2, f"{kind}SharedMemoryStatusRequest")()
            answer = getattr(self.stub, f"{kind}SharedMemoryStatus")(request)
            self.assertEqual(dict(answer.regions), {})

    def test_unregister_all_where_nothing_can_be_registered(self):
        self.stub.SystemSharedMemoryUnregister(service_pb2.SystemSharedMemoryUnregisterRequest())
        self.stub.CudaSharedMemoryUnregister(service_pb2.CudaSharedMemoryUnregisterRequest())

    def test_extensions_are_those_that_are_there(self):
        metadata = self.stub.ServerMetadata(service_pb2.ServerMetadataRequest())
        self.assertEqual((metadata.name, metadata.version), ("gpu-7", "2.60.0"))
        self.assertEqual(sorted(metadata.extensions), EXTENSIONS)

    def test_extensions_that_a_config_turns_on(self):
        """Each with its calls, which are refused where it is not announced."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for config, extension in (({"limits": {"client_shared_memory": "1MiB"}},
                                   "system_shared_memory"),
                                  ({"trace": {"file": f"{folder}/traces"}}, "trace")):
            with Daemon([synthetic("m")], **config) as daemon, \
                    calls.stub(daemon.address) as stub:
                metadata = stub.ServerMetadata(service_pb2.ServerMetadataRequest())
                self.assertEqual(sorted(metadata.extensions), sorted([*EXTENSIONS, extension]))
                if extension == "trace":
                    settings = stub.TraceSetting(self.trace_settings(trace_rate=["7"])).settings
                    self.assertEqual(list(settings["trace_rate"].value), ["7"])
                    self.assertNotEqual(list(settings["trace_level"].value), ["OFF"])
                else:
                    stub.SystemSharedMemoryStatus(service_pb2.SystemSharedMemoryStatusRequest())


if __name__ == "__main__":
    unittest.main(verbosity=2)
