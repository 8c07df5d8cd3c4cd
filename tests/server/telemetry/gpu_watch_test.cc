#include "server/telemetry/gpu_watch.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr char kFake[] = MPSD_FAKE_NVML "/libnvidia-ml.so.1";

class GpuWatchTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("FAKE_NVML"); }

  // The driver says so from now on.
  void Say(const std::string& lines) {
    setenv("FAKE_NVML", work_.Replace("gpus", lines).c_str(), 1);
  }

  static std::vector<GpuSample> WaitForSamples(const GpuWatch& watch) {
    while (watch.Samples().empty()) absl::SleepFor(absl::Milliseconds(1));
    return watch.Samples();
  }

  const WorkFolder work_;
};

TEST_F(GpuWatchTest, NoLibraryAndNoDriverAreNoGpu) {
  EXPECT_THAT(GpuWatch("libnot-there.so.1").Samples(), IsEmpty());
  EXPECT_THAT(GpuWatch(kFake).Samples(), IsEmpty());
}

TEST_F(GpuWatchTest, EachGpuIsTold) {
  Say("25 1000 4000 7:600 8:300 7:50\n-1 0 8000\n");
  const GpuWatch watch(kFake);
  const std::vector<GpuSample> gpus = WaitForSamples(watch);
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].uuid, "GPU-0");
  EXPECT_EQ(gpus[0].busy, 0.25);
  EXPECT_EQ(gpus[0].used_bytes, 1000U);
  EXPECT_EQ(gpus[0].memory_bytes, 4000U);
  EXPECT_THAT(gpus[0].processes, ElementsAre(Pair(7, 650U), Pair(8, 300U)));
  EXPECT_EQ(gpus[1].index, 1U);
  EXPECT_LT(gpus[1].busy, 0) << "not known";
  EXPECT_THAT(gpus[1].processes, IsEmpty());
}

TEST_F(GpuWatchTest, ManyProcessesAreTold) {
  std::string line = "0 0 1";
  for (int i = 1; i <= 300; ++i) absl::StrAppend(&line, " ", i, ":", 1);
  Say(line + " 301:18446744073709551615\n");
  const GpuWatch watch(kFake);
  EXPECT_THAT(WaitForSamples(watch)[0].processes, SizeIs(300));
}

TEST_F(GpuWatchTest, ADriverThatHangsHoldsNobodyUp) {
  Say("hang\n");
  const GpuWatch watch(kFake);
  EXPECT_THAT(watch.Samples(), IsEmpty());
}

}  // namespace
}  // namespace mpsd
