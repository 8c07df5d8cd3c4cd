#include "client/client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/client/soon.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::client {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

// Answers each input as an output of the same name and content.
grpc::Status Echo(grpc::ServerContext&, const ModelInferRequest& request,
                  ModelInferResponse* response) {
  response->set_model_name(request.model_name());
  response->set_model_version("3");
  response->set_id(request.id());
  for (const auto& input : request.inputs()) {
    auto* output = response->add_outputs();
    output->set_name(input.name());
    output->set_datatype(input.datatype());
    *output->mutable_shape() = input.shape();
  }
  *response->mutable_raw_output_contents() = request.raw_input_contents();
  return grpc::Status::OK;
}

class ClientTest : public testing::Test {
 protected:
  void Connect() {
    server_.Start();
    auto client = Client::Connect(server_.address(), Soon());
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // Makes the server answer with one output of these properties.
  void AnswerWith(const std::string& datatype, const std::vector<int64_t>& shape,
                  const std::string& bytes) {
    server_.infer = [=](grpc::ServerContext&, const ModelInferRequest&,
                        ModelInferResponse* response) {
      auto* output = response->add_outputs();
      output->set_name("y");
      output->set_datatype(datatype);
      output->mutable_shape()->Add(shape.begin(), shape.end());
      response->add_raw_output_contents(bytes);
      return grpc::Status::OK;
    };
  }

  FakeInferenceServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, SaysWhetherTheServerIsReady) {
  server_.ready = false;
  Connect();
  const auto ready = client_->ServerReady(Soon());
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_FALSE(*ready);
}

TEST_F(ClientTest, AddsUpTheRunsOfAllVersions) {
  server_.statistics = [](grpc::ServerContext&, const inference::ModelStatisticsRequest& request,
                          inference::ModelStatisticsResponse* response) {
    EXPECT_EQ(request.name(), "mlp");
    for (const int rows : {30, 12}) {
      auto* version = response->add_model_stats();
      version->set_inference_count(rows);
      version->set_execution_count(rows / 6);
    }
    return grpc::Status::OK;
  };
  Connect();
  const auto runs = client_->GetModelRuns("mlp", Soon());
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->rows, 42u);
  EXPECT_EQ(runs->batches, 7u);
}

TEST_F(ClientTest, ReadsModelMetadata) {
  server_.metadata.set_name("mlp");
  server_.metadata.add_versions("1");
  auto* input = server_.metadata.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->add_shape(-1);
  input->add_shape(16);
  Connect();
  const auto metadata = client_->GetModelMetadata("mlp", "", Soon());
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->versions, std::vector<std::string>{"1"});
  ASSERT_EQ(metadata->inputs.size(), 1U);
  EXPECT_EQ(metadata->inputs[0].datatype, DataType::kFp32);
  EXPECT_EQ(metadata->inputs[0].shape, (Dims{-1, 16}));
}

TEST_F(ClientTest, SendsTensorsRawAndReadsThemBack) {
  server_.infer = Echo;
  Connect();
  const std::vector<float> values = {1, 2.5F};
  const std::string texts = PackBytes({"a", ""});
  const InferRequest request{"m",
                             "3",
                             "id-7",
                             {MakeInput<float>("x", {1, 2}, values),
                              {"s", DataType::kBytes, {2}, {texts.data(), texts.size()}}},
                             {"x", "s"}};
  const auto reply = client_->Infer(request, Soon());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->version, "3");
  EXPECT_EQ(reply->id, "id-7");
  ASSERT_EQ(reply->outputs.size(), 2U);
  EXPECT_EQ(*Values<float>(reply->outputs[0]), values);
  EXPECT_EQ(*UnpackBytes(reply->outputs[1].bytes), (std::vector<std::string>{"a", ""}));

  const ModelInferRequest sent = server_.LastInfer();
  EXPECT_EQ(sent.model_version(), "3");
  EXPECT_EQ(sent.raw_input_contents_size(), 2);
  EXPECT_FALSE(sent.inputs(0).has_contents());
  EXPECT_EQ(sent.outputs(1).name(), "s");
}

TEST_F(ClientTest, GivesBackTheServersErrorWithItsCodeAndText) {
  server_.infer = [](auto&, auto&, auto*) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "Exceeds maximum queue size");
  };
  Connect();
  const auto reply = client_->Infer({"m", "", "", {}, {}}, Soon());
  EXPECT_EQ(reply.status(), absl::ResourceExhaustedError("Exceeds maximum queue size"));
}

TEST_F(ClientTest, ReturnsAtItsDeadlineAndTheServerKnowsIt) {
  absl::Notification cancelled;
  server_.infer = [&](grpc::ServerContext& context, auto&, auto*) {
    EXPECT_LT(context.deadline(), std::chrono::system_clock::now() + std::chrono::minutes(1));
    while (!context.IsCancelled()) std::this_thread::yield();
    cancelled.Notify();
    return grpc::Status::CANCELLED;
  };
  Connect();
  const auto reply = client_->Infer({"m", "", "", {}, {}}, absl::Now() + absl::Seconds(2));
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
  cancelled.WaitForNotification();
}

TEST_F(ClientTest, RefusesAnAnswerWhoseBytesDoNotFitItsShape) {
  AnswerWith("FP32", {2}, "abcd");
  Connect();
  const auto reply = client_->Infer({"m", "", "", {}, {}}, Soon());
  EXPECT_EQ(reply.status(), absl::InternalError("the answer's output 'y' is FP32[2] in 4 bytes"));
}

TEST_F(ClientTest, RefusesAnAnswerOfUnknownDatatype) {
  AnswerWith("FP31", {1}, "abcd");
  Connect();
  const auto reply = client_->Infer({"m", "", "", {}, {}}, Soon());
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kInternal);
}

TEST_F(ClientTest, RefusesAnAnswerWithoutItsContents) {
  server_.infer = [](auto&, auto&, ModelInferResponse* response) {
    response->add_outputs()->set_name("y");
    return grpc::Status::OK;
  };
  Connect();
  const auto reply = client_->Infer({"m", "", "", {}, {}}, Soon());
  EXPECT_EQ(reply.status(), absl::InternalError("the answer names 1 outputs and carries 0"));
}

TEST_F(ClientTest, SendsNothingWithoutADatatype) {
  Connect();
  const auto reply =
      client_->Infer({"m", "", "", {{"x", DataType::kInvalid, {1}, {}}}, {}}, Soon());
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientTest, MayBeUsedByManyThreads) {
  server_.infer = Echo;
  Connect();
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      const std::vector<int64_t> value = {i};
      const auto reply =
          client_->Infer({"m", "", "", {MakeInput<int64_t>("x", {1}, value)}, {}}, Soon());
      ASSERT_TRUE(reply.ok()) << reply.status();
      EXPECT_EQ(*Values<int64_t>(reply->outputs[0]), value);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ClientTest, RegistersMemoryOfADevice) {
  inference::CudaSharedMemoryRegisterRequest asked;
  server_.register_device_region = [&asked](auto&, const auto& request, auto*) {
    asked = request;
    return grpc::Status::OK;
  };
  std::string given_back;
  server_.unregister_device_region = [&given_back](auto&, const auto& request, auto*) {
    given_back = request.name();
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such region");
  };
  Connect();
  const std::string handle = std::string("\1\0\2", 3) + std::string(61, 'h');
  const absl::Status status = client_->RegisterDeviceRegion("r", handle, 3, 4096, Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(asked.name(), "r");
  EXPECT_EQ(asked.raw_handle(), handle);
  EXPECT_EQ(asked.device_id(), 3);
  EXPECT_EQ(asked.byte_size(), 4096u);
  EXPECT_EQ(client_->UnregisterDeviceRegion("r", Soon()),
            absl::NotFoundError("there is no such region"));
  EXPECT_EQ(given_back, "r");
}

TEST_F(ClientTest, SaysUnimplementedWhereTheServerIsNotOurs) {
  Connect();
  EXPECT_EQ(client_->GetDaemonStatus(Soon()).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ClientConnect, IsUnavailableAtOnceWhereNobodyListens) {
  const FakeInferenceServer not_started;
  const auto client = Client::Connect(not_started.address(), absl::InfiniteFuture());
  EXPECT_EQ(client.status(),
            absl::UnavailableError("no server is reachable at " + not_started.address() +
                                   ": No such file or directory"));
}

TEST(Tensor, ValuesOfAnotherDatatypeAreRefused) {
  const InferOutput output{"y", DataType::kFp32, {1}, "abcd"};
  EXPECT_EQ(Values<int64_t>(output).status(),
            absl::InvalidArgumentError("output 'y' is FP32, not INT64"));
}

TEST(Tensor, BytesElementsThatAreCutAreRefused) {
  const std::string packed = PackBytes({"abc"});
  EXPECT_FALSE(UnpackBytes(packed.substr(0, 3)).ok());
  EXPECT_FALSE(UnpackBytes(packed.substr(0, 6)).ok());
  EXPECT_TRUE(UnpackBytes(packed).ok());
}

}  // namespace
}  // namespace mpsd::client
