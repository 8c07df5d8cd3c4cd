#include "server/models/reload/hub_puller.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class HubPullerTest : public testing::Test {
 protected:
  // Starts a puller whose program is a shell script.
  void Start(const std::string& script) {
    puller_.Want({"ORG/NAME"});
    puller_.Start(folder_.Script("pull.sh", script),
                  {[this] { Moved(); }, [this] { pulled_.Notify(); }});
  }

  void Moved() {
    absl::MutexLock lock(&mu_);
    texts_.push_back(puller_.Text("ORG/NAME"));
  }

  void WaitForText(const std::string& text) {
    const auto is_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return std::count(texts_.begin(), texts_.end(), text) > 0;
    };
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&is_there));
  }

  const WorkFolder folder_;
  ServerMetrics metrics_;
  Logger logger_{*LogFile::Open("/dev/null"), LogLevel::kInfo, Clock::Real(), &metrics_};
  absl::Notification pulled_;
  absl::Mutex mu_;
  std::vector<std::string> texts_ ABSL_GUARDED_BY(mu_);
  HubPuller puller_{&metrics_, &logger_};
};

TEST_F(HubPullerTest, TellsHowFarAPullIsAndWhereTheModelLies) {
  Start(R"(echo "{\"event\": \"progress\", \"done\": 1048576, \"bytes\": 4194304}"
echo "{\"event\": \"done\", \"path\": \"/there/$3\", \"bytes\": 4194304}")");
  WaitForText("fetches ORG/NAME: 1 MiB of 4 MiB");
  pulled_.WaitForNotification();
  EXPECT_EQ(puller_.TakeFolder("ORG/NAME"), "/there/ORG/NAME");
  ASSERT_EQ(puller_.Samples().size(), 1U);
  EXPECT_EQ(puller_.Samples()[0].bytes, 4194304U);
  puller_.Want({});
  EXPECT_EQ(puller_.Samples().size(), 1U) << "a pull that has ended is still shown";
  EXPECT_EQ(metrics_.pull_failures, 0U);
}

TEST_F(HubPullerTest, AFaultIsToldAndAReloadTriesAgain) {
  const std::string flag = folder_.PathOf("flag");
  Start("if mkdir " + flag + R"(; then echo "mpsd: it is gated"; exit 1; fi
rmdir )" +
        flag + R"(; echo "{\"event\": \"done\", \"path\": \"/there\", \"bytes\": 1}")");
  WaitForText("cannot fetch it: it is gated");
  EXPECT_EQ(metrics_.pull_failures, 1U);
  puller_.Want({"ORG/NAME"});
  pulled_.WaitForNotification();
  EXPECT_EQ(metrics_.pull_failures, 1U);
}

TEST_F(HubPullerTest, AReloadDuringATryThatFailsTriesAgain) {
  const std::string tried = folder_.PathOf("tried");
  const std::string asked = folder_.PathOf("asked");
  Start("if mkdir " + tried + R"(; then echo '{"event": "progress", "done": 1, "bytes": 2}'
until [ -e )" +
        asked + R"( ]; do sleep 0.01; done; exit 1
fi; echo '{"event": "done", "path": "/there", "bytes": 1}')");
  WaitForText("fetches ORG/NAME: 1 B of 2 B");
  puller_.Want({"ORG/NAME"});
  folder_.Write(asked, "");
  EXPECT_TRUE(pulled_.WaitForNotificationWithTimeout(absl::Nanoseconds(HubPuller::kRetryNs / 2)));
  EXPECT_EQ(metrics_.pull_failures, 1U);
}

TEST_F(HubPullerTest, LinesThatAreNoEventsDoNoHarm) {
  Start(R"(echo '[]'; echo '{"event": 7}'; echo '{"event": "progress", "done": -1, "bytes": "x"}'
head -c 100000 /dev/zero; echo; echo 'no model')");
  WaitForText("cannot fetch it: no model");
}

TEST_F(HubPullerTest, APullThatNobodyWantsAnyMoreEnds) {
  Start(R"(if [ "$3" = ORG/NAME ]; then
echo '{"event": "progress", "done": 1, "bytes": 2}'; exec sleep 600
fi; echo '{"event": "done", "path": "/there", "bytes": 1}')");
  WaitForText("fetches ORG/NAME: 1 B of 2 B");
  puller_.Want({"ORG/OTHER"});
  pulled_.WaitForNotification();
  EXPECT_EQ(puller_.TakeFolder("ORG/OTHER"), "/there");
  EXPECT_EQ(metrics_.pull_failures, 0U);
}

TEST_F(HubPullerTest, TheEndDoesNotWaitForAPull) {
  Start("echo '{\"event\": \"progress\", \"done\": 1, \"bytes\": 2}'; exec sleep 600");
  WaitForText("fetches ORG/NAME: 1 B of 2 B");
  puller_.Stop();
}

}  // namespace
}  // namespace mpsd
