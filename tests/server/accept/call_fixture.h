// CallFixture: a gRPC server and its client on one queue, which the test pumps itself.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"
#include "proto/inference.pb.h"
#include "server/accept/generic_call.h"
#include "server/accept/infer_calls.h"
#include "server/accept/stream_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_device_copier.h"
#include "tests/fakes/fake_infer_handler.h"
#include "tests/server/wire/slices.h"

namespace mpsd {

// A tag of the client's that remembers that it came. Lives on the test's thread.
struct ClientTag final : QueueTag {
  void Proceed(bool is_ok) override {
    came = true;
    ok = is_ok;
  }
  bool came = false;
  bool ok = false;
};

// One call of the client's. Lives on the test's thread, which pumps the queue until a tag came.
struct ClientCall {
  grpc::ClientContext context;
  grpc::Status status;
  ClientTag finished;

  // Of a unary call.
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer response;

  // Of a stream.
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;
  ClientTag started, read, written, closed;
  grpc::ByteBuffer message;
};

// Lives on the test's thread, which is also the calls' thread. Nothing here waits for time to pass:
// Pump() blocks in the queue until the next tag comes. The gate is open until a test sets rules.
class CallFixture : public testing::Test {
 protected:
  static constexpr uint64_t kMessageBytes = 1 << 20;
  static constexpr uint32_t kOpenCalls = 3000;  // of each kind

  CallFixture() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    builder.RegisterService(&infer_service_);
    builder.RegisterAsyncGenericService(&generic_service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    infer_.exchange = {&handler_, &metrics_, &clock_, &regions_, &thread_, {}};
    infer_.service = &infer_service_;
    infer_.queue = queue_.get();
    infer_.streams = &streams_;
    infer_.stopping = &stopping_;
    infer_.message_bytes = kMessageBytes;
    infer_.live_calls = &live_calls_;
    infer_.open_infer_calls = &open_infer_calls_;
    infer_.open_stream_calls = &open_stream_calls_;
    infer_.pins = std::make_shared<PinLedger>(1 << 20, 1 << 20);
    infer_.gate = &call_gate_;
    infer_.inflaters = &inflaters_;
    generic_.service = &generic_service_;
    generic_.queue = queue_.get();
    generic_.thread = &thread_;
    generic_.methods = &methods_;
    generic_.metrics = &metrics_;
    generic_.streams = &streams_;
    generic_.stopping = &stopping_;
    generic_.live_calls = &live_calls_;
    generic_.open_calls = &open_other_calls_;
    generic_.gate = &call_gate_;
    generic_.inflaters = &inflaters_;
    generic_.watchers = &watchers_;
    thread_.Bind();
    channel_ =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials());
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
  }

  ~CallFixture() override {
    ShutDown();
    thread_.Unbind();
  }

  // Ends the server as GrpcServer does. No call is left when it returns, of the client's neither.
  void ShutDown() {
    if (server_ == nullptr) return;
    std::thread stopper([this] { server_->Shutdown(std::chrono::system_clock::now()); });
    Pump([this] { return live_calls_ == 0; });
    stopper.join();
    queue_->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) static_cast<QueueTag*>(tag)->Proceed(ok);
    server_.reset();
    EXPECT_EQ(metrics_.open_calls, 0);
    for (const OpenCalls* calls : {&open_infer_calls_, &open_stream_calls_, &open_other_calls_}) {
      EXPECT_EQ(calls->count(), 0u);
    }
  }

  // Takes the queue's tags until it holds.
  void Pump(const std::function<bool()>& holds) {
    void* tag = nullptr;
    bool ok = false;
    while (!holds()) {
      ASSERT_TRUE(queue_->Next(&tag, &ok));
      ++tags_taken_;
      static_cast<QueueTag*>(tag)->Proceed(ok);
    }
  }
  // Takes `count` more tags.
  void PumpTags(int count) {
    const int end = tags_taken_ + count;
    Pump([this, end] { return tags_taken_ >= end; });
  }
  void PumpUntil(const ClientTag& tag) {
    Pump([&tag] { return tag.came; });
  }
  void PumpUntilAdmitted(size_t count) {
    Pump([this, count] { return handler_.count() >= count; });
  }

  void ArmInfer() { infer_calls_.Arm(); }
  void ArmStream() { (new StreamCall(&infer_))->Arm(); }
  void ArmGeneric() { (new GenericCall(&generic_))->Arm(); }

  static grpc::ByteBuffer InferBytes(const std::string& model, const std::string& id = "",
                                     bool final_flag = false) {
    inference::ModelInferRequest request;
    request.set_model_name(model);
    request.set_id(id);
    if (final_flag) {
      (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
    }
    return InOneSlice(request.SerializeAsString());
  }

  // A request whose one input lies in the client's region of this name.
  static grpc::ByteBuffer RegionBytes(const std::string& region) {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    auto* input = request.add_inputs();
    input->set_name("x");
    input->set_datatype("FP32");
    input->add_shape(2);
    auto& parameters = *input->mutable_parameters();
    parameters["shared_memory_region"].set_string_param(region);
    parameters["shared_memory_byte_size"].set_int64_param(8);
    return InOneSlice(request.SerializeAsString());
  }

  // Has the client's connection register "gpu", 8 bytes of a device, with a method of its own. A
  // generic call is armed then.
  void RegisterDevice() {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i = 0; i < 2; ++i) socket_[i].Reset(ends[i]);
    copier_.memories['a'] = "12345678";
    const auto spec = [] {
      RegionSpec gpu;
      gpu.name = "gpu";
      gpu.handle = FakeHandle('a');
      gpu.bytes = 8;
      return gpu;
    };
    methods_.AddDeferred("/a.B/Register", [this, spec](const CallerInfo& caller, absl::string_view,
                                                       const MethodTable::Answer& answer) {
      regions_.RegisterDevice(caller.connection, caller.peer, spec(),
                              [answer](const absl::Status& status) { answer(status, ""); });
    });
    ArmGeneric();
    const auto call = Call("/a.B/Register", "");
    Pump([this] { return !copier_.tasks.empty(); });
    copier_.RunTasks();
    PumpUntil(call->finished);
    ASSERT_TRUE(call->status.ok()) << call->status.error_message();
    Pump([this] { return metrics_.open_calls == 0; });
  }

  std::unique_ptr<ClientCall> NewCall(bool compressed = false) {
    auto call = std::make_unique<ClientCall>();
    if (compressed) call->context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    return call;
  }

  // Starts a unary call; its tag is `finished`.
  void Start(ClientCall* call, const std::string& method, const grpc::ByteBuffer& request) {
    call->reader = stub_->PrepareUnaryCall(&call->context, method, request, queue_.get());
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, &call->finished);
  }
  std::unique_ptr<ClientCall> Infer(const grpc::ByteBuffer& request, bool compressed = false) {
    std::unique_ptr<ClientCall> call = NewCall(compressed);
    Start(call.get(), InferService::kMethod, request);
    return call;
  }
  std::unique_ptr<ClientCall> Call(const std::string& method, const std::string& request,
                                   bool compressed = false) {
    std::unique_ptr<ClientCall> call = NewCall(compressed);
    Start(call.get(), method, InOneSlice(request));
    return call;
  }

  // Opens a stream and waits for that.
  std::unique_ptr<ClientCall> Open(const std::string& method, bool compressed = false) {
    std::unique_ptr<ClientCall> call = NewCall(compressed);
    call->stream = stub_->PrepareCall(&call->context, method, queue_.get());
    call->stream->StartCall(&call->started);
    PumpUntil(call->started);
    return call;
  }
  void Write(ClientCall* call, const grpc::ByteBuffer& bytes) {
    call->written = {};
    call->stream->Write(bytes, &call->written);
    PumpUntil(call->written);
  }
  void Close(ClientCall* call) {
    call->stream->WritesDone(&call->closed);
    PumpUntil(call->closed);
  }
  // False at the end of the stream.
  bool Read(ClientCall* call) {
    call->read = {};
    call->stream->Read(&call->message, &call->read);
    PumpUntil(call->read);
    return call->read.ok;
  }
  grpc::Status End(ClientCall* call) {
    call->stream->Finish(&call->status, &call->finished);
    PumpUntil(call->finished);
    return call->status;
  }
  inference::ModelStreamInferResponse ReadResponse(ClientCall* call) {
    inference::ModelStreamInferResponse response;
    EXPECT_TRUE(Read(call));
    EXPECT_TRUE(response.ParseFromString(AllBytes(call->message)));
    return response;
  }

  // Of the client, as far as the regions are concerned.
  std::vector<OpenSocket> Sockets() const {
    struct stat info {};
    if (fstat(socket_[0].get(), &info) != 0) return {};
    return {{socket_[0].get(), static_cast<uint64_t>(info.st_ino)}};
  }

  FakeClock clock_;
  UniqueFd socket_[2];
  int tags_taken_ = 0;
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  FakeInferHandler handler_;
  MethodTable methods_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, Clock::Real(), &metrics_};
  Gate gate_;
  RefusalLog refusals_{&access_metrics_, &logger_, &clock_};
  CallGate call_gate_{&gate_, &refusals_};
  FakeDeviceCopier copier_;
  ClientRegions regions_{{1 << 20, 1000, 4096, 4096},
                         [this](absl::string_view) { return Sockets(); },
                         &copier_,
                         &metrics_};
  Inflater inflater_{kMessageBytes, kMessageBytes};
  InflaterThreads inflaters_{&inflater_};
  ThreadRole thread_;
  OpenStreams streams_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> live_calls_{0};
  OpenCalls open_infer_calls_{kOpenCalls, &metrics_.refused_calls};
  OpenCalls open_stream_calls_{kOpenCalls, &metrics_.refused_calls};
  OpenCalls open_other_calls_{kOpenCalls, &metrics_.refused_calls};
  InferCallContext infer_;
  Watchers watchers_;
  InferCalls infer_calls_{&infer_};
  GenericCallContext generic_;

  InferService infer_service_;
  grpc::AsyncGenericService generic_service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

}  // namespace mpsd
