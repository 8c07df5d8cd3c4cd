#include "client/traffic/stream_pump.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd::traffic {
namespace {

// Answers each request of a stream, and then once more.
class Talker final : public inference::GRPCInferenceService::Service {
  using Stream =
      grpc::ServerReaderWriter<inference::ModelStreamInferResponse, inference::ModelInferRequest>;

  grpc::Status ModelStreamInfer(grpc::ServerContext*, Stream* stream) override {
    inference::ModelStreamInferResponse response;
    response.mutable_infer_response()->add_raw_output_contents("1234");
    inference::ModelInferRequest request;
    while (stream->Read(&request)) stream->Write(response);
    stream->Write(response);
    return grpc::Status::OK;
  }
};

TEST(StreamPump, AnAnswerToNoRequestIsWrongAndEndsTheStream) {
  const std::string address =
      absl::StrCat("unix:", testing::TempDir(), "/talker-", getpid(), ".sock");
  Talker talker;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&talker);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  const auto requests = PrepareRequests({.model = "m", .inputs = {*ParseInputPlan("x:FP32[1,1]")}});
  ASSERT_TRUE(requests.ok());
  LoadPlan plan;
  plan.target = address;
  plan.streams = 2;
  plan.concurrency = 2;
  plan.duration_ns = 100 * kNsPerMs;
  plan.drain_ns = 30 * kNsPerSecond;
  const auto result = RunLoad(plan, *requests);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.wrong, 2u);
  EXPECT_TRUE(result->counts.errors.empty());
}

}  // namespace
}  // namespace mpsd::traffic
