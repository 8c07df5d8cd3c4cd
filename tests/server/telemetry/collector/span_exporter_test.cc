#include "server/telemetry/collector/span_exporter.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Answers as the test says; the last answer again and again.
class FakeCollector final : public Collector {
 public:
  explicit FakeCollector(std::vector<absl::Status> answers) : answers_(std::move(answers)) {}

  absl::Status Take(const std::string& message, int64_t, const std::atomic<bool>& cut) override {
    absl::MutexLock lock(&mu_);
    const absl::Status answer = answers_[std::min(messages_.size(), answers_.size() - 1)];
    messages_.push_back(message);
    while (holds_ && !cut) mu_.AwaitWithTimeout(absl::Condition(&let_go_), absl::Milliseconds(1));
    return answer;
  }

  // Calls last until they are cut.
  void Hold() {
    absl::MutexLock lock(&mu_);
    holds_ = true;
  }
  void LetGo() {
    absl::MutexLock lock(&mu_);
    holds_ = false;
    let_go_ = true;
  }
  void WaitForCalls(size_t count) {
    const auto has_them = [this, count] {
      mu_.AssertReaderHeld();
      return messages_.size() >= count;
    };
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&has_them));
  }
  std::vector<std::string> messages() {
    absl::MutexLock lock(&mu_);
    return messages_;
  }

 private:
  const std::vector<absl::Status> answers_;
  absl::Mutex mu_;
  bool holds_ ABSL_GUARDED_BY(mu_) = false;
  bool let_go_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> messages_ ABSL_GUARDED_BY(mu_);
};

class SpanExporterTest : public testing::Test {
 protected:
  SpanExporterTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    log_.Reset(ends[0]);
    logger_ = std::make_unique<Logger>(std::make_unique<LogFile>(UniqueFd(ends[1])),
                                       LogLevel::kInfo, Clock::Real(), &metrics_);
    options_.gather_ns = 0;
    options_.first_retry_ns = 1;
  }

  void Make(std::vector<absl::Status> answers) {
    collector_ = std::make_unique<FakeCollector>(std::move(answers));
    exporter_ =
        std::make_unique<SpanExporter>(collector_.get(), options_, logger_.get(), &metrics_);
  }

  // Ends the exporter and the log, and returns the log's text.
  std::string Log() {
    exporter_.reset();
    logger_.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(log_.get(), buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }

  uint64_t Lost() {
    exporter_.reset();
    return metrics_.lost_traces;
  }

  const absl::Status later_ = absl::UnavailableError("not now");
  const absl::Status never_ = absl::FailedPreconditionError("never");
  UniqueFd log_;
  ServerMetrics metrics_;
  SpanExporterOptions options_;
  std::unique_ptr<Logger> logger_;
  std::unique_ptr<FakeCollector> collector_;
  std::unique_ptr<SpanExporter> exporter_;
};

TEST_F(SpanExporterTest, RequestsThatComeTogetherAreOneMessage) {
  options_.gather_ns = 3600 * kNsPerSecond;
  options_.message_traces = 3;
  Make({absl::OkStatus()});
  for (int i = 0; i < 3; ++i) exporter_->Send(absl::StrCat("spans", i));
  collector_->WaitForCalls(1);
  EXPECT_THAT(collector_->messages(), ElementsAre(HasSubstr("spans0spans1spans2")));
  EXPECT_EQ(Lost(), 0U);
}

TEST_F(SpanExporterTest, AMessageIsTriedAgain) {
  Make({later_, later_, absl::OkStatus()});
  exporter_->Send("spans");
  collector_->WaitForCalls(3);
  EXPECT_EQ(collector_->messages()[0], collector_->messages()[2]);
  const std::string log = Log();
  EXPECT_EQ(metrics_.lost_traces, 0U);
  EXPECT_EQ(log.find("collector_fails"), log.rfind("collector_fails")) << "told once: " << log;
  EXPECT_THAT(log, HasSubstr("not now"));
  EXPECT_THAT(log, HasSubstr("collector_works"));
}

TEST_F(SpanExporterTest, AMessageThatIsNotTakenInAllTriesIsLost) {
  Make({later_, later_, later_, later_, absl::OkStatus()});
  exporter_->Send("lost");
  collector_->WaitForCalls(4);
  exporter_->Send("taken");
  collector_->WaitForCalls(5);
  EXPECT_THAT(collector_->messages()[4], HasSubstr("taken"));
  EXPECT_EQ(Lost(), 1U);
}

TEST_F(SpanExporterTest, AMessageThatIsRefusedIsLost) {
  Make({never_, absl::OkStatus()});
  exporter_->Send("refused");
  collector_->WaitForCalls(1);
  exporter_->Send("taken");
  collector_->WaitForCalls(2);
  EXPECT_THAT(collector_->messages()[1], HasSubstr("taken"));
  EXPECT_EQ(Lost(), 1U);
}

TEST_F(SpanExporterTest, AFullQueueLosesTheOldest) {
  options_.queued_traces = 2;
  Make({absl::OkStatus()});
  collector_->Hold();
  exporter_->Send("first");
  collector_->WaitForCalls(1);
  for (const char* spans : {"old", "new", "newest"}) exporter_->Send(spans);
  collector_->LetGo();
  EXPECT_EQ(Lost(), 1U);
  const std::vector<std::string> messages = collector_->messages();
  ASSERT_GE(messages.size(), 2U);
  std::string rest;
  for (size_t i = 1; i < messages.size(); ++i) rest += messages[i];
  EXPECT_THAT(rest, testing::Not(HasSubstr("old")));
  EXPECT_THAT(rest, HasSubstr("newest"));
}

TEST_F(SpanExporterTest, TheEndSendsWhatWaits) {
  options_.gather_ns = 3600 * kNsPerSecond;
  Make({absl::OkStatus()});
  exporter_->Send("a");
  exporter_->Send("b");
  EXPECT_EQ(Lost(), 0U);
  EXPECT_THAT(collector_->messages(), ElementsAre(HasSubstr("ab")));
}

TEST_F(SpanExporterTest, TheEndCutsACallAndHasNoSecondTry) {
  Make({later_});
  collector_->Hold();
  exporter_->Send("cut");
  collector_->WaitForCalls(1);
  EXPECT_EQ(Lost(), 1U);
  EXPECT_THAT(collector_->messages(), SizeIs(1));
}

TEST_F(SpanExporterTest, WithoutSpansThereIsNoMessage) {
  Make({absl::OkStatus()});
  exporter_.reset();
  EXPECT_THAT(collector_->messages(), IsEmpty());
}

}  // namespace
}  // namespace mpsd
