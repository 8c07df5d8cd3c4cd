#include "server/memory_watch.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FakePressure final : public PressureSource {
 public:
  explicit FakePressure(const MemoryPressure* level) : level_(level) {}
  MemoryPressure Level() const override { return *level_; }

 private:
  const MemoryPressure* const level_;
};

class MemoryWatchTest : public testing::Test {
 protected:
  void LookAt(MemoryPressure level) {
    level_ = level;
    watch_.Look();
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, &clock_, &metrics_};
  MemoryPressure level_ = MemoryPressure::kNone;
  std::vector<MemoryPressure> told_;
  MemoryWatch watch_{std::make_unique<FakePressure>(&level_),
                     [this](MemoryPressure level) { told_.push_back(level); }, &metrics_, &logger_};
};

TEST_F(MemoryWatchTest, TellsEachNewLevelOnce) {
  LookAt(MemoryPressure::kNone);
  EXPECT_THAT(told_, IsEmpty());
  LookAt(MemoryPressure::kWarn);
  LookAt(MemoryPressure::kWarn);
  LookAt(MemoryPressure::kCritical);
  LookAt(MemoryPressure::kNone);
  EXPECT_THAT(told_,
              ElementsAre(MemoryPressure::kWarn, MemoryPressure::kCritical, MemoryPressure::kNone));
}

TEST_F(MemoryWatchTest, CountsWhatRisesAndShowsTheLevel) {
  LookAt(MemoryPressure::kCritical);
  EXPECT_EQ(metrics_.memory_pressure, 2);
  EXPECT_EQ(metrics_.memory_pressure_rises, 1u);
  LookAt(MemoryPressure::kWarn);
  EXPECT_EQ(metrics_.memory_pressure, 1);
  EXPECT_EQ(metrics_.memory_pressure_rises, 1u);
  LookAt(MemoryPressure::kCritical);
  EXPECT_EQ(metrics_.memory_pressure_rises, 2u);
}

TEST(MemoryWatch, WithoutASourceItDoesNothing) {
  MemoryWatch watch(nullptr, nullptr, nullptr, nullptr);
  watch.Look();
}

}  // namespace
}  // namespace mpsd
