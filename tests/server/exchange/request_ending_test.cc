#include "server/exchange/request_ending.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/bodies/grpc/trace_context.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_infer_handler.h"

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr size_t kInternalIndex = static_cast<size_t>(absl::StatusCode::kInternal);

class RequestEndingTest : public testing::Test {
 protected:
  RequestEndingTest() { request_.arrival_ns = clock_.NowNs() - 5 * kNsPerMs; }

  void Find() { request_.metrics = &metrics_; }
  void Admit() {
    Find();
    request_.queue = &queue_;
  }
  void Count(absl::StatusCode code) { CountEnding(request_, code, &server_, &clock_); }
  uint64_t failures() const { return metrics_.inference.Read().fail.count; }

  FakeClock clock_;
  ServerMetrics server_;
  ModelMetrics metrics_;
  FakeRequestQueue queue_;
  Request request_;
};

TEST_F(RequestEndingTest, WithoutAModelItCountsForTheServer) {
  Count(absl::StatusCode::kInternal);
  EXPECT_EQ(server_.refused_by_code[kInternalIndex], 1u);
  EXPECT_EQ(metrics_.requests_by_code[kInternalIndex], 0u);
}

TEST_F(RequestEndingTest, BeforeAdmissionItIsNoFailureOfTheModel) {
  Find();
  Count(absl::StatusCode::kInternal);
  EXPECT_EQ(metrics_.requests_by_code[kInternalIndex], 1u);
  EXPECT_EQ(failures(), 0u);
}

TEST_F(RequestEndingTest, AfterAdmissionItIsAFailureOfTheModel) {
  Admit();
  Count(absl::StatusCode::kInternal);
  EXPECT_EQ(failures(), 1u);
  Count(absl::StatusCode::kOk);
  EXPECT_EQ(failures(), 1u);
}

TEST_F(RequestEndingTest, OnceTheModelHasAnsweredItIsNoFailureOfTheModel) {
  Admit();
  request_.is_answered = true;
  Count(absl::StatusCode::kInternal);
  EXPECT_EQ(metrics_.requests_by_code[kInternalIndex], 1u);
  EXPECT_EQ(failures(), 0u);
}

TEST_F(RequestEndingTest, ACodeBeyondTheKnownOnesCountsAsTheLast) {
  Count(static_cast<absl::StatusCode>(1000));
  EXPECT_EQ(server_.refused_by_code[kStatusCodes - 1], 1u);
}

// A pipe that a log writes to.
class LogPipe {
 public:
  LogPipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    reader_.Reset(ends[0]);
    writer_.Reset(ends[1]);
  }
  std::unique_ptr<LogFile> TakeFile() { return std::make_unique<LogFile>(std::move(writer_)); }
  // All that was written. REQUIRES: the log is gone.
  std::string Text() {
    char bytes[4096];
    const ssize_t count = read(reader_.get(), bytes, sizeof(bytes));
    return {bytes, count > 0 ? static_cast<size_t>(count) : 0};
  }

 private:
  UniqueFd reader_;
  UniqueFd writer_;
};

TEST_F(RequestEndingTest, IsALineOfTheRequestLog) {
  LogPipe pipe;
  auto log = std::make_unique<RequestLog>(pipe.TakeFile(), &server_);
  RequestObservers observers;
  observers.requests = log.get();
  InferMessage message;
  message.model = "m";
  message.id = "the-id";
  TellEnding(request_, message, absl::StatusCode::kNotFound, {}, observers, &clock_);
  log.reset();
  const std::string line = pipe.Text();
  EXPECT_THAT(line, HasSubstr("the-id"));
  EXPECT_THAT(line, HasSubstr("NOT_FOUND"));
}

TEST_F(RequestEndingTest, IsASpanOnlyWhereItIsTraced) {
  LogPipe pipe;
  TraceSettings settings;
  settings.rate = 1;
  auto log = std::make_unique<TraceLog>(TraceTarget{pipe.TakeFile(), TraceFormat::kOtlp}, settings,
                                        1, &clock_, &server_);
  RequestObservers observers;
  observers.traces = log.get();
  InferMessage message;
  message.id = "traced";
  request_.span = observers.BeginSpan("m", {});
  ASSERT_NE(request_.span, nullptr);
  TellEnding(request_, message, absl::StatusCode::kOk, {}, observers, &clock_);
  message.id = "untraced";
  request_.span = nullptr;
  TellEnding(request_, message, absl::StatusCode::kOk, {}, observers, &clock_);
  log.reset();
  const std::string spans = pipe.Text();
  EXPECT_THAT(spans, HasSubstr("\"traced\""));
  EXPECT_THAT(spans, Not(HasSubstr("untraced")));
}

TEST_F(RequestEndingTest, ALineOfTheRequestLogLeadsToItsSpan) {
  LogPipe spans;
  LogPipe lines;
  auto traces = std::make_unique<TraceLog>(TraceTarget{spans.TakeFile(), TraceFormat::kLines},
                                           TraceSettings{}, 1, &clock_, &server_);
  auto log = std::make_unique<RequestLog>(lines.TakeFile(), &server_);
  const RequestObservers observers{traces.get(), log.get()};
  request_.span = observers.BeginSpan("m", {});  // the caller gave no id
  ASSERT_NE(request_.span, nullptr);
  TellEnding(request_, {}, absl::StatusCode::kOk, {}, observers, &clock_);
  log.reset();
  EXPECT_THAT(lines.Text(), HasSubstr("\"trace_id\":\"" + request_.span->trace_id + "\""));
}

TEST(Awaited, ARequestIsLateFromItsDeadlineOn) {
  constexpr int64_t kNow = 1'000 * kNsPerSecond;
  Request request;
  request.arrival_ns = kNow - kNsPerSecond;
  request.deadline_ns = kNow;
  EXPECT_TRUE(CheckInTime(request, kNow - 1).ok());
  for (const int64_t now_ns : {kNow, kNow + 1}) {
    EXPECT_EQ(CheckInTime(request, now_ns), absl::DeadlineExceededError("Request timeout expired"));
  }
}

TEST_F(RequestEndingTest, TheCallersDecisionCounts) {
  LogPipe pipe;
  TraceLog log({pipe.TakeFile()}, TraceSettings(), 1, &clock_, &server_);
  RequestObservers observers;
  observers.traces = &log;
  TraceContext context;
  const auto decide = [&](const char* flags) {
    const std::string text =
        absl::StrCat("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-", flags);
    ASSERT_TRUE(ReadTraceparent(text, &context));
  };
  decide("00");
  EXPECT_EQ(observers.BeginSpan("m", context), nullptr);
  decide("01");
  EXPECT_NE(observers.BeginSpan("m", context), nullptr);
  EXPECT_NE(observers.BeginSpan("m", TraceContext()), nullptr) << "the first in a thousand";
}

TEST(RequestObservers, WithoutATraceLogNothingIsTraced) {
  TraceContext context;
  context.sampled = true;
  EXPECT_EQ(RequestObservers().BeginSpan("m", context), nullptr);
}

}  // namespace
}  // namespace mpsd
