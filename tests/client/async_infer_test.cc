#include "client/async_infer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "tests/client/soon.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::client {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

class AsyncInferTest : public testing::Test {
 protected:
  void Connect(uint32_t attempts = 1) {
    server_.Start();
    ConnectOptions options;
    options.retry.attempts = attempts;
    options.retry.first_delay = absl::Milliseconds(1);
    auto client = Client::Connect(server_.address(), Soon(), options);
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // The server is unavailable so many times, and then answers.
  void FailFirst(int count) {
    server_.infer = [this, count](auto&, const ModelInferRequest& request,
                                  ModelInferResponse* response) {
      if (++calls_ <= count) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "worker lost");
      response->set_id(request.id());
      return grpc::Status::OK;
    };
  }

  static InferRequest Request(const std::string& id) { return {"m", "", id, {}, {}}; }

  std::atomic<int> calls_{0};
  FakeInferenceServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(AsyncInferTest, ManyAtOnceEachGetItsOwn) {
  FailFirst(0);
  Connect();
  std::vector<std::future<absl::StatusOr<InferReply>>> futures;
  for (int i = 0; i < 100; ++i) {
    futures.push_back(client_->InferFuture(Request(std::to_string(i)), Soon()));
  }
  for (int i = 0; i < 100; ++i) {
    const absl::StatusOr<InferReply> reply = futures[static_cast<size_t>(i)].get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->id, std::to_string(i));
  }
}

TEST_F(AsyncInferTest, WhatIsUnavailableIsTriedAgain) {
  FailFirst(2);
  Connect(3);
  EXPECT_TRUE(client_->InferFuture(Request("1"), Soon()).get().ok());
  EXPECT_EQ(calls_, 3);
}

TEST_F(AsyncInferTest, NotMoreOftenThanAsked) {
  FailFirst(100);
  Connect(3);
  EXPECT_EQ(client_->InferFuture(Request("1"), Soon()).get().status(),
            absl::UnavailableError("worker lost"));
  EXPECT_EQ(calls_, 3);
}

TEST_F(AsyncInferTest, ABlockingCallIsTriedAgainToo) {
  FailFirst(2);
  Connect(3);
  EXPECT_TRUE(client_->Infer(Request("1"), Soon()).ok());
  EXPECT_EQ(calls_, 3);
}

TEST_F(AsyncInferTest, NothingIsTriedAgainByDefault) {
  FailFirst(1);
  Connect();
  EXPECT_EQ(client_->Infer(Request("1"), Soon()).status(), absl::UnavailableError("worker lost"));
  EXPECT_EQ(calls_, 1);
}

TEST_F(AsyncInferTest, AnErrorOfTheRequestIsNotTriedAgain) {
  server_.infer = [this](auto&, auto&, auto*) {
    ++calls_;
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  Connect(3);
  EXPECT_EQ(client_->InferFuture(Request("1"), Soon()).get().status(),
            absl::InvalidArgumentError("no"));
  EXPECT_EQ(calls_, 1);
}

TEST_F(AsyncInferTest, WhatCannotBeSentCallsBackToo) {
  Connect();
  InferRequest request = Request("1");
  request.inputs.emplace_back();
  EXPECT_TRUE(absl::IsInvalidArgument(client_->InferFuture(request, Soon()).get().status()));
}

TEST_F(AsyncInferTest, TheClientWaitsForItsCalls) {
  std::atomic<bool> answered{false};
  FailFirst(3);
  Connect(5);
  client_->InferAsync(Request("1"), Soon(), [&](const auto&) { answered = true; });
  client_.reset();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace mpsd::client
