#include "proto/base/failpoint.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"

namespace mpsd {
namespace {

std::unique_ptr<FailpointTable> Armed(const std::string& text, uint64_t seed = 1) {
  auto table = FailpointTable::Parse(text, seed);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

// The passes out of `count` that act.
std::set<int> Acts(FailpointTable* table, const char* name, int count) {
  std::set<int> acts;
  for (int pass = 1; pass <= count; ++pass) {
    if (table->Pass(name).has_value()) acts.insert(pass);
  }
  return acts;
}

TEST(FailpointTable, NothingIsArmed) {
  EXPECT_FALSE(Armed("")->Pass("worker.after_claim").has_value());
  EXPECT_FALSE(Armed("worker.a=kill")->Pass("worker.b").has_value());
  EXPECT_FALSE(Armed("worker.a=kill")->Pass("worker.").has_value());
}

TEST(FailpointTable, EveryPassActs) {
  auto table = Armed("worker.a=kill");
  EXPECT_THAT(Acts(table.get(), "worker.a", 3), testing::ElementsAre(1, 2, 3));
}

TEST(FailpointTable, OnePassActs) {
  auto table = Armed("worker.a=stop@2");
  EXPECT_THAT(Acts(table.get(), "worker.a", 5), testing::ElementsAre(2));
}

TEST(FailpointTable, SomePassesActAsTheSeedSays) {
  const auto first = Acts(Armed("worker.a=kill%20", 1).get(), "worker.a", 1000);
  EXPECT_THAT(first.size(), testing::AllOf(testing::Gt(120), testing::Lt(280)));
  EXPECT_EQ(first, Acts(Armed("worker.a=kill%20", 1).get(), "worker.a", 1000));
  EXPECT_NE(first, Acts(Armed("worker.a=kill%20", 2).get(), "worker.a", 1000));
}

TEST(FailpointTable, ActionsAndArguments) {
  EXPECT_EQ(Armed("a=kill")->Pass("a")->action, FailpointAction::kKill);
  EXPECT_EQ(Armed("a=stop")->Pass("a")->action, FailpointAction::kStop);
  EXPECT_EQ(Armed("a=corrupt")->Pass("a")->action, FailpointAction::kCorrupt);
  EXPECT_EQ(Armed("a=exit")->Pass("a")->argument, 42);
  EXPECT_EQ(Armed("a=exit:7")->Pass("a")->argument, 7);
  EXPECT_EQ(Armed("a=sleep:30")->Pass("a")->argument, 30);
  EXPECT_EQ(Armed("a=errno:ENOMEM")->Pass("a")->argument, ENOMEM);
  EXPECT_EQ(Armed("a=errno:EMFILE@1")->Pass("a")->argument, EMFILE);
  EXPECT_EQ(Armed("a=errno:5")->Pass("a")->argument, 5);
}

TEST(FailpointTable, SeveralAtOnePlaceAndSeveralPlaces) {
  auto table = Armed("a=sleep:1@1, a=kill@2 ,b=stop");
  EXPECT_EQ(table->Pass("a").value().action, FailpointAction::kSleep);
  EXPECT_EQ(table->Pass("a").value().action, FailpointAction::kKill);
  EXPECT_EQ(table->Pass("b").value().action, FailpointAction::kStop);
}

TEST(FailpointTable, SaysWhichActIsTheFirst) {
  auto table = Armed("a=sleep:1@2,a=sleep:1@3");
  EXPECT_FALSE(table->Pass("a").has_value());
  EXPECT_TRUE(table->Pass("a")->first);
  auto every = Armed("a=sleep:1");
  EXPECT_TRUE(every->Pass("a")->first);
  EXPECT_FALSE(every->Pass("a")->first);
  EXPECT_EQ(every->Pass("a")->pass, 3U);
}

TEST(FailpointTable, WhatIsNoFailpointIsRefused) {
  for (const char* text :
       {"a", "a=", "=kill", "a=explode", "a=kill:3", "a=stop:1", "a=corrupt:1", "a=sleep",
        "a=sleep:", "a=sleep:x", "a=sleep:-1", "a=errno", "a=errno:EWHAT", "a=kill@0", "a=kill@",
        "a=kill%0", "a=kill%x", "a=sleep:60001", "a=kill@1@2"}) {
    EXPECT_FALSE(FailpointTable::Parse(text, 1).ok()) << text;
  }
}

TEST(FailpointTable, WorkersGetWhatIsTheirs) {
  EXPECT_EQ(FailpointTable::WorkerPart(""), "");
  EXPECT_EQ(FailpointTable::WorkerPart("dispatch.a=kill"), "");
  EXPECT_EQ(FailpointTable::WorkerPart("worker.a=kill@3,dispatch.b=kill,worker.c=stop%5"),
            "worker.a=kill@3,worker.c=stop%5");
}

TEST(CorruptBytes, AlwaysChangesSomethingAndStaysInside) {
  for (uint64_t random = 0; random < 500; ++random) {
    std::string bytes(6, 'x');
    CorruptBytes(random, bytes.data() + 1, 4);
    EXPECT_NE(bytes, "xxxxxx") << random;
    EXPECT_EQ(bytes[0], 'x');
    EXPECT_EQ(bytes[5], 'x');
  }
  CorruptBytes(1, nullptr, 0);
}

TEST(HitFailpointDeathTest, ActsAndSaysSo) {
  const auto armed = [](const char* text) {
    setenv("MPSD_FAILPOINTS", text, 1);
    return MPSD_FAILPOINT_ERRNO("worker.a");
  };
  EXPECT_EXIT(armed("worker.a=kill"), testing::KilledBySignal(SIGKILL),
              "failpoint worker.a: kill at pass 1");
  EXPECT_EXIT(armed("worker.a=exit"), testing::ExitedWithCode(42), "failpoint worker.a: exit");
  EXPECT_EXIT(_exit(armed("worker.a=errno:7")), testing::ExitedWithCode(7), "worker.a: errno");
  EXPECT_EXIT(_exit(armed("worker.b=kill")), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(armed("worker.a=explode"), testing::KilledBySignal(SIGABRT), "is no failpoint");
}

}  // namespace
}  // namespace mpsd
