#include "server/keep_awake.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FakeAssertion final : public AwakeAssertion {
 public:
  FakeAssertion(std::vector<std::string>* journal, absl::Status outcome)
      : journal_(journal), outcome_(std::move(outcome)) {}

  absl::Status Take() override {
    journal_->push_back("take");
    return outcome_;
  }
  void GiveBack() override { journal_->push_back("give back"); }

 private:
  std::vector<std::string>* const journal_;
  const absl::Status outcome_;
};

class KeepAwakeTest : public testing::Test {
 protected:
  std::unique_ptr<KeepAwake> Make(absl::Status outcome) {
    auto assertion = std::make_unique<FakeAssertion>(&journal_, std::move(outcome));
    return std::make_unique<KeepAwake>(std::move(assertion), &clock_, &logger_);
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, &clock_, &metrics_};
  std::vector<std::string> journal_;
};

TEST_F(KeepAwakeTest, HoldsTheAssertionFromTheFirstRequestUntilItWasQuiet) {
  const auto keep = Make(absl::OkStatus());
  keep->Look(0);
  EXPECT_THAT(journal_, IsEmpty());
  keep->Look(2);
  clock_.Advance(3600 * kNsPerSecond);
  keep->Look(1);
  EXPECT_THAT(journal_, ElementsAre("take")) << "once, for however long requests are inside";
  clock_.Advance(KeepAwake::kQuietNs - 1);
  keep->Look(0);
  EXPECT_THAT(journal_, ElementsAre("take"));
  clock_.Advance(1);
  keep->Look(0);
  keep->Look(0);
  EXPECT_THAT(journal_, ElementsAre("take", "give back"));
  keep->Look(1);
  EXPECT_THAT(journal_, ElementsAre("take", "give back", "take"));
}

TEST_F(KeepAwakeTest, GivesTheAssertionBackAtItsEnd) {
  auto keep = Make(absl::OkStatus());
  keep->Look(1);
  keep.reset();
  EXPECT_THAT(journal_, ElementsAre("take", "give back"));
}

TEST_F(KeepAwakeTest, ARefusalIsTakenOnce) {
  auto keep = Make(absl::UnavailableError("no"));
  keep->Look(1);
  keep->Look(1);
  clock_.Advance(KeepAwake::kQuietNs);
  keep->Look(0);
  keep.reset();
  EXPECT_THAT(journal_, ElementsAre("take"));
}

TEST_F(KeepAwakeTest, WithoutAnAssertionItDoesNothing) {
  KeepAwake keep(nullptr, &clock_, &logger_);
  keep.Look(1);
  clock_.Advance(KeepAwake::kQuietNs);
  keep.Look(0);
}

}  // namespace
}  // namespace mpsd
