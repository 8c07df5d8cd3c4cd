#include "client/bench/load_meter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/fakes/fake_inference_server.h"
#include "tests/fakes/fake_web_server.h"

namespace mpsd::bench {
namespace {

class LoadMeterTest : public testing::Test {
 protected:
  LoadMeterTest() {
    server_.metadata.set_name("m");
    auto* input = server_.metadata.add_inputs();
    input->set_name("x");
    input->set_datatype("FP32");
    input->add_shape(-1);
    input->add_shape(4);
    server_.infer = [this](grpc::ServerContext&, const inference::ModelInferRequest& request,
                           inference::ModelInferResponse* response) {
      ++calls_;
      *response->mutable_raw_output_contents() = request.raw_input_contents();
      return grpc::Status::OK;
    };
    server_.statistics = [this](grpc::ServerContext&, const inference::ModelStatisticsRequest&,
                                inference::ModelStatisticsResponse* response) {
      auto* stats = response->add_model_stats();
      stats->set_inference_count(calls_ * 4);
      stats->set_execution_count(calls_);
      return grpc::Status::OK;
    };
    server_.Start();
  }

  std::unique_ptr<LoadMeter> Connect() {
    auto meter = LoadMeter::Connect({.address = server_.address(), .model = "m"});
    EXPECT_TRUE(meter.ok()) << meter.status();
    return *std::move(meter);
  }

  std::atomic<uint64_t> calls_{0};
  FakeInferenceServer server_;
};

// Long enough for some requests on a loaded machine. The tests only look at the kind of requests.
constexpr absl::Duration kWindow = absl::Milliseconds(500);

constexpr Slo kLoose{.quantile = 0.5, .bound_ns = 3'600'000'000'000};

TEST_F(LoadMeterTest, MeasuresClients) {
  const auto point = Connect()->Measure({.clients = 2}, kWindow, nullptr);
  ASSERT_TRUE(point.ok()) << point.status();
  EXPECT_GT(point->answered, 0);
  EXPECT_TRUE(point->errors.empty());
  EXPECT_DOUBLE_EQ(point->mean_batch, 4);
}

TEST_F(LoadMeterTest, CountsTheErrorsOfARate) {
  server_.infer = [](grpc::ServerContext&, const inference::ModelInferRequest&,
                     inference::ModelInferResponse*) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full");
  };
  const auto point = Connect()->Measure({.rate = 500}, kWindow, &kLoose);
  ASSERT_TRUE(point.ok()) << point.status();
  ASSERT_EQ(point->errors.count("RESOURCE_EXHAUSTED"), 1u);
  EXPECT_GT(point->errors.at("RESOURCE_EXHAUSTED"), 0u);
  EXPECT_FALSE(point->meets_slo);
}

TEST_F(LoadMeterTest, ADeadlineEndsEachRequest) {
  server_.infer = [this](grpc::ServerContext& context, const inference::ModelInferRequest&,
                         inference::ModelInferResponse*) {
    if (context.deadline() < std::chrono::system_clock::now() + std::chrono::minutes(1)) ++calls_;
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::CANCELLED;
  };
  auto meter = LoadMeter::Connect(
      {.address = server_.address(), .model = "m", .deadline = absl::Milliseconds(20)});
  ASSERT_TRUE(meter.ok()) << meter.status();
  const auto point = (*meter)->Measure({.clients = 2}, kWindow, nullptr);
  ASSERT_TRUE(point.ok()) << point.status();
  EXPECT_EQ(point->answered, 0);
  EXPECT_GT(point->errors.at("DEADLINE_EXCEEDED"), 2U);
  EXPECT_GT(calls_, 2U);
}

TEST_F(LoadMeterTest, TheKneeIsTheLastLoadThatWasMet) {
  KneeSearch search({.first = 100, .loads_max = 2});
  int seen = 0;
  const auto knee = Connect()->FindKnee(
      kLoose, &search, kWindow, [] { return true; }, [&](const LoadPoint&) { ++seen; });
  ASSERT_TRUE(knee.ok()) << knee.status();
  ASSERT_TRUE(knee->has_value());
  EXPECT_EQ((*knee)->load.rate, 200);
  EXPECT_EQ(seen, 2);
}

TEST_F(LoadMeterTest, TheSearchEndsWhenItIsTold) {
  KneeSearch search({.first = 100});
  const auto knee = Connect()->FindKnee(
      kLoose, &search, kWindow, [] { return false; }, [](const LoadPoint&) {});
  ASSERT_TRUE(knee.ok()) << knee.status();
  EXPECT_FALSE(knee->has_value());
}

TEST_F(LoadMeterTest, ASearchThatComesToTooFewRequestsSaysSo) {
  KneeSearch search({.first = 0.01});
  int seen = 0;
  const auto knee = Connect()->FindKnee(
      kLoose, &search, kWindow, [] { return true; }, [&](const LoadPoint&) { ++seen; });
  EXPECT_EQ(knee.status(), absl::FailedPreconditionError("0.01 /s are too few requests in 10s to "
                                                         "tell: measure each load for longer"));
  EXPECT_EQ(seen, 0);
}

TEST(KneeWindow, HasEnoughRequestsOrIsRefused) {
  EXPECT_EQ(*KneeWindow(1000, absl::Seconds(3)), absl::Seconds(3));
  EXPECT_EQ(*KneeWindow(4, absl::Seconds(3)), absl::Seconds(5));
  EXPECT_EQ(*KneeWindow(0.5, absl::Seconds(60)), absl::Seconds(60));
  EXPECT_EQ(KneeWindow(0.5, absl::Seconds(3)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(KneeWindow(1e-300, absl::Seconds(3600)).ok());
}

// The same over HTTP: an answer has the bytes of its request.
class WebLoadMeterTest : public testing::Test {
 protected:
  using Request = FakeWebServer::Request;
  using Reply = FakeWebServer::Reply;

  WebLoadMeterTest() {
    server_.handler = [this](const Request& request) -> Reply {
      if (request.line == "GET /v2/models/m/stats") {
        return {200, absl::StrCat(R"({"model_stats":[{"inference_count":)", calls_ * 4,
                                  R"(,"execution_count":)", calls_.load(), "}]}")};
      }
      if (request.line == "GET /v2/models/m") {
        return {200, R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[-1,4]}],)"
                     R"("outputs":[]})"};
      }
      ++calls_;
      return infer_(request);
    };
    server_.Start();
  }

  static Reply Tensor(size_t bytes) {
    return {200, "{}" + std::string(bytes, 'x'), {{"Inference-Header-Content-Length", "2"}}};
  }

  LoadPoint Measured(const Load& load) {
    auto meter = LoadMeter::Connect({.address = server_.url(), .model = "m"});
    EXPECT_TRUE(meter.ok()) << meter.status();
    const auto point = (*meter)->Measure(load, kWindow, &kLoose);
    EXPECT_TRUE(point.ok()) << point.status();
    return *point;
  }

  std::atomic<uint64_t> calls_{0};
  std::function<Reply(const Request&)> infer_ = [](const Request&) { return Tensor(16); };
  FakeWebServer server_;
};

TEST_F(WebLoadMeterTest, MeasuresClients) {
  const LoadPoint point = Measured({.clients = 2});
  EXPECT_GT(point.answered, 0);
  EXPECT_TRUE(point.errors.empty());
  EXPECT_DOUBLE_EQ(point.mean_batch, 4);
  const Request request = server_.Requests()[2];
  EXPECT_EQ(request.line, "POST /v2/models/m/infer");
  EXPECT_TRUE(absl::StrContains(request.body, R"("shape":[1,4])")) << request.body;
}

TEST_F(WebLoadMeterTest, MeasuresARate) {
  const LoadPoint point = Measured({.rate = 200});
  EXPECT_GT(point.due, 0U);
  EXPECT_GT(point.answered, 0);
  EXPECT_EQ(point.errors.count("WRONG"), 0U);
}

TEST_F(WebLoadMeterTest, CountsErrorsAndWrongAnswers) {
  infer_ = [this](const Request&) {
    return calls_ % 2 == 0 ? Reply{429, R"({"error":"full"})"} : Tensor(calls_ == 1 ? 16 : 12);
  };
  const LoadPoint point = Measured({.clients = 1});
  EXPECT_GT(point.errors.at("RESOURCE_EXHAUSTED"), 0U);
  EXPECT_GT(point.errors.at("WRONG"), 0U);
}

TEST_F(WebLoadMeterTest, HasAtMostSoManyClients) {
  auto meter = LoadMeter::Connect({.address = server_.url(), .model = "m"});
  ASSERT_TRUE(meter.ok()) << meter.status();
  EXPECT_EQ((*meter)->Measure({.clients = kMostWebClients + 1}, kWindow, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(LoadMeterTest, SaysThatThereIsNoSuchModel) {
  EXPECT_EQ(LoadMeter::Connect({.address = server_.address(), .model = "n"}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace mpsd::bench
