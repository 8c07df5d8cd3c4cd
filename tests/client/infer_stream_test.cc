#include "client/infer_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/client/soon.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::client {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;

class InferStreamTest : public testing::Test {
 protected:
  void Connect() {
    server_.Start();
    auto client = Client::Connect(server_.address(), Soon());
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  std::unique_ptr<InferStream> Open() {
    return InferStream::Open(client_.get(), Soon(),
                             [this](StreamReply reply) { replies_.push_back(std::move(reply)); });
  }

  static InferRequest Request(const std::string& id) { return {"m", "", id, {}, {}}; }

  FakeInferenceServer server_;
  std::unique_ptr<Client> client_;
  std::vector<StreamReply> replies_;
};

TEST_F(InferStreamTest, EachRequestIsAnswered) {
  server_.stream_infer = [](auto&, const ModelInferRequest& request,
                            ModelStreamInferResponse* response) {
    response->mutable_infer_response()->set_id(request.id());
    if (request.id() == "2") response->set_error_message("no such model");
    return grpc::Status::OK;
  };
  Connect();
  const auto stream = Open();
  for (const char* id : {"1", "2", "3"}) EXPECT_TRUE(stream->Send(Request(id)).ok());
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(replies_.size(), 3u);
  EXPECT_EQ(replies_[0].id, "1");
  EXPECT_TRUE(replies_[0].reply.ok());
  EXPECT_EQ(replies_[1].id, "2");
  EXPECT_EQ(replies_[1].reply.status(), absl::UnknownError("no such model"));
  EXPECT_EQ(replies_[2].reply->id, "3");
}

TEST_F(InferStreamTest, TheEndOfTheStreamIsTold) {
  server_.stream_infer = [](auto&, auto&, auto*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Server exiting");
  };
  Connect();
  const auto stream = Open();
  EXPECT_TRUE(stream->Send(Request("1")).ok());
  EXPECT_EQ(stream->Finish(), absl::UnavailableError("Server exiting"));
}

TEST_F(InferStreamTest, OneThatIsDroppedIsCancelled) {
  absl::Notification arrived;
  absl::Notification cancelled;
  server_.stream_infer = [&](grpc::ServerContext& context, auto&, auto*) {
    arrived.Notify();
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    cancelled.Notify();
    return grpc::Status::CANCELLED;
  };
  Connect();
  auto stream = Open();
  EXPECT_TRUE(stream->Send(Request("1")).ok());
  arrived.WaitForNotification();
  stream.reset();
  cancelled.WaitForNotification();
}

TEST_F(InferStreamTest, WhatIsNoRequestIsNotSent) {
  Connect();
  const auto stream = Open();
  InferRequest request = Request("1");
  request.inputs.emplace_back();
  EXPECT_TRUE(absl::IsInvalidArgument(stream->Send(request)));
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace mpsd::client
