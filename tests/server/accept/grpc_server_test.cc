#include "server/accept/grpc_server.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"
#include "proto/inference.grpc.pb.h"
#include "tests/fakes/fake_infer_handler.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// No completion ever comes. Counts the threads that are awake. Thread-safe.
struct FakeCompletions final : CompletionSource {
  size_t Drain() override { return 0; }
  void Wake() override { ++awake; }
  bool Park() override {
    --awake;
    return true;
  }
  std::atomic<int> awake{0};
};

class GrpcServerTest : public testing::Test {
 protected:
  GrpcServerTest() {
    handler_.answers_at_once = true;
    options_.addresses = {"127.0.0.1:0"};
    options_.message_bytes = 1 << 20;
    options_.buffered_bytes = 4 << 20;
    options_.streams = 16;
    options_.metadata_bytes = 8 << 10;
    options_.queue_threads = 2;
  }

  std::unique_ptr<GrpcServer> NewServer() {
    return std::make_unique<GrpcServer>(&handler_, &methods_, &completions_, &regions_, &metrics_,
                                        &logger_, Clock::Real(), &gate_, &refusals_);
  }

  std::unique_ptr<inference::GRPCInferenceService::Stub> Client(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return inference::GRPCInferenceService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }

  static grpc::Status InferOnce(inference::GRPCInferenceService::Stub* client,
                                std::chrono::seconds limit = std::chrono::seconds(60)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + limit);
    inference::ModelInferRequest request;
    request.set_model_name("m");
    inference::ModelInferResponse response;
    return client->ModelInfer(&context, request, &response);
  }

  FakeInferHandler handler_;
  MethodTable methods_;
  FakeCompletions completions_;
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, Clock::Real(), &metrics_};
  Gate gate_;
  RefusalLog refusals_{&access_metrics_, &logger_, Clock::Real()};
  ClientRegions regions_{
      {}, [](absl::string_view) { return std::vector<OpenSocket>(); }, nullptr, &metrics_};
  GrpcServerOptions options_;
  std::unique_ptr<GrpcServer> server_ = NewServer();
};

TEST_F(GrpcServerTest, ServesOnThePortThatItSays) {
  ASSERT_TRUE(server_->Start(options_).ok());
  ASSERT_EQ(server_->bound().size(), 1u);
  EXPECT_FALSE(absl::EndsWith(server_->bound()[0], ":0"));
  const auto client = Client(server_->bound()[0]);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(InferOnce(client.get()).ok());
  EXPECT_EQ(server_->connection_count(), 1u);
  EXPECT_EQ(handler_.count(), 20u);
  server_->Stop(0);
  EXPECT_EQ(metrics_.open_calls, 0);
}

#ifdef __linux__
TEST_F(GrpcServerTest, SeveralPollingThreadsKeepTheWorkOfConnections) {
  if (!absl::StartsWith(grpc::Version(), "1.51.")) GTEST_SKIP() << "gRPC " << grpc::Version();
  ASSERT_TRUE(server_->Start(options_).ok());
  // What gRPC itself finds under this name.
  const auto may_use_executor = reinterpret_cast<bool (*)()>(
      dlsym(RTLD_DEFAULT, "_ZN9grpc_core8Executor17IsThreadedDefaultEv"));
  ASSERT_NE(may_use_executor, nullptr);
  EXPECT_FALSE(may_use_executor());
}
#endif

// More than a socket takes at once. gRPC's executor, where there is one, has the rest written.
TEST_F(GrpcServerTest, SeveralPollingThreadsDoNotStandStillOverLargeAnswers) {
  constexpr auto kStandsStill = std::chrono::seconds(8);
  handler_.answer.assign(size_t{16} << 20, 1);
  options_.queue_threads = 4;
  ASSERT_TRUE(server_->Start(options_).ok());
  const auto client = Client(server_->bound()[0]);
  for (int i = 0; i < 10; ++i) {
    const grpc::Status status = InferOnce(client.get(), kStandsStill);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST_F(GrpcServerTest, ServesOnAllItsAddresses) {
  const std::string path = absl::StrCat("unix:/tmp/mpsd-grpc-server-test-", getpid(), ".sock");
  options_.addresses.push_back(path);
  ASSERT_TRUE(server_->Start(options_).ok());
  ASSERT_EQ(server_->bound().size(), 2u);
  EXPECT_EQ(server_->bound()[1], path);
  for (const std::string& address : server_->bound()) {
    EXPECT_TRUE(InferOnce(Client(address).get()).ok()) << address;
  }
}

TEST_F(GrpcServerTest, NamesTheAddressThatItCannotHave) {
  ASSERT_TRUE(server_->Start(options_).ok());
  options_.addresses.push_back(server_->bound()[0]);
  const std::unique_ptr<GrpcServer> second = NewServer();
  const absl::Status status = second->Start(options_);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(server_->bound()[0]));
  EXPECT_TRUE(InferOnce(Client(server_->bound()[0]).get()).ok()) << "the first one goes on";
}

// A client that never reads what the server says, and so never answers its GOAWAY.
TEST_F(GrpcServerTest, AConnectionWithoutACallDoesNotHoldAStop) {
  const std::string path = absl::StrCat("/tmp/mpsd-grpc-server-stop-", getpid(), ".sock");
  options_.addresses = {"unix:" + path};
  ASSERT_TRUE(server_->Start(options_).ok());
  const UniqueFd client(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string hello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  ASSERT_EQ(write(client.get(), hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
  char byte = 0;
  ASSERT_EQ(read(client.get(), &byte, 1), 1) << "the server speaks: the connection stands";
  server_->Stop(3600 * kNsPerSecond);
}

TEST_F(GrpcServerTest, StopsWithAllItsCallsArmed) {
  ASSERT_TRUE(server_->Start(options_).ok());
  server_->Stop(0);
  EXPECT_EQ(completions_.awake, 0) << "the completion thread must be rung for";
  server_->Stop(0);
}

TEST_F(GrpcServerTest, IsStoppedByItsDestructor) {
  ASSERT_TRUE(server_->Start(options_).ok());
  const auto client = Client(server_->bound()[0]);
  EXPECT_TRUE(InferOnce(client.get()).ok());
  server_.reset();
  EXPECT_EQ(InferOnce(client.get()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(GrpcServerTest, AStopEndsOpenStreams) {
  ASSERT_TRUE(server_->Start(options_).ok());
  const auto client = Client(server_->bound()[0]);
  grpc::ClientContext context;
  const auto stream = client->ModelStreamInfer(&context);
  inference::ModelInferRequest request;
  request.set_model_name("m");
  ASSERT_TRUE(stream->Write(request));
  inference::ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  server_->Stop(kNsPerSecond);
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "Server exiting");
}

TEST_F(GrpcServerTest, CallsThatAreOpenAfterTheGraceAreCancelled) {
  methods_.AddWatched(
      "/a.B/Watch", [] { return uint64_t{1}; },
      [](const CallerInfo&, absl::string_view, std::string* response) {
        *response = "always the same";
        return absl::OkStatus();
      });
  ASSERT_TRUE(server_->Start(options_).ok());
  grpc::GenericStub client(
      grpc::CreateChannel(server_->bound()[0], grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call = client.PrepareCall(&context, "/a.B/Watch", &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    return ok;
  };
  call->StartCall(nullptr);
  ASSERT_TRUE(wait());
  grpc::ByteBuffer message;
  const grpc::Slice empty("");
  call->Write(grpc::ByteBuffer(&empty, 1), nullptr);
  ASSERT_TRUE(wait());
  call->Read(&message, nullptr);
  ASSERT_TRUE(wait());
  server_->Stop(0);
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace mpsd
