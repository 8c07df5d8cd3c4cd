// Workers that have unpacked a .pt2, killed at any moment: nothing of what they unpacked stays.
// MPSD_KILLS says how many; the claim of a thousand is checked with MPSD_KILLS=1000.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "proto/base/clock.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/process/spawned_worker_process.h"
#include "tests/worker/tools/package_folder.h"

namespace mpsd {
namespace {

constexpr int kDefaultKills = 6;

int Kills() {
  const char* text = std::getenv("MPSD_KILLS");
  return text == nullptr ? kDefaultKills : std::atoi(text);
}

LoadOrder Order() {
  LoadOrder order;
  order.model = "m";
  order.format = ModelFormat::kAoti;
  order.path = PackagePath("mlp.pt2");
  order.device = "cpu";
  order.warmup = WarmUp::kNone;
  order.epoch = 1;
  return order;
}

bool HasUnpacked(const std::string& folder) {
  std::error_code error;
  return std::filesystem::directory_iterator(folder, error) !=
         std::filesystem::directory_iterator();
}

TEST(PackageKills, LeaveNoTemporaryFolder) {
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  ASSERT_TRUE(poller.ok());
  const std::string folder =
      testing::TempDir() + "mpsd_kills_" + std::to_string(getpid()) + "/worker";
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path());
  int unpacked = 0;
  for (int i = 0; i < Kills(); ++i) {
    SpawnedWorkerOptions options;
    options.binary = MPSD_WORKER;
    options.temporary_folder = folder;
    auto remover = std::make_unique<FolderRemover>(
        [](const std::string& left, const absl::Status& why) { ADD_FAILURE() << left << why; });
    remover->Start();
    auto process = SpawnedWorkerProcess::Spawn(options, &*poller, 1, remover.get());
    ASSERT_TRUE(process.ok()) << process.status();
    ASSERT_TRUE((*process)->Send(Order(), {}).ok());
    // Some are killed as soon as they have unpacked, others somewhere on the way.
    const int64_t until_ns =
        Clock::Real()->NowNs() + (i % 2 == 0 ? 60'000 : i % 19 * 50) * kNsPerMs;
    while (Clock::Real()->NowNs() < until_ns && !(i % 2 == 0 && HasUnpacked(folder))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    unpacked += HasUnpacked(folder) ? 1 : 0;
    (*process)->Kill();
    (*process)->Reap(/*wait=*/true);
    process->reset();
    remover.reset();  // waits until all is removed
    EXPECT_FALSE(std::filesystem::exists(folder)) << "after kill " << i;
  }
  EXPECT_GE(unpacked, (Kills() + 1) / 2) << "none of it shows anything otherwise";
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(folder).parent_path(), ignored);
}

}  // namespace
}  // namespace mpsd
