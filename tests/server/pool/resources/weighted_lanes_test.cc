// Models that share a device by their weights: how much of its lane time each has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/pool/resources/resource_table.h"

namespace mpsd {
namespace {

constexpr int64_t kMs = 1'000'000;

LaneNeeds OfWeight(uint32_t weight) {
  LaneNeeds needs;
  needs.weight = weight;
  return needs;
}

// A device whose models always have something to run, but where the test says otherwise.
class Device {
 public:
  explicit Device(DeviceLimits limits = {}) : table_({}, std::move(limits)) {}

  ~Device() {
    for (const Batch& batch : running_) table_.GiveBack(models_[batch.model].claim, kMs);
    for (const Model& model : models_) table_.Leave(model.claim);
  }

  size_t Add(uint32_t weight, int64_t batch_ns, uint32_t lanes = 1) {
    models_.push_back({table_.Enter(OfWeight(weight), "cpu", lanes), batch_ns});
    return models_.size() - 1;
  }

  void Rest(size_t model) {
    models_[model].wants = false;
    table_.StopWaiting(models_[model].claim);
  }
  void GoOn(size_t model) { models_[model].wants = true; }

  // A claim that gets a lane runs on it, until `ns` have passed.
  void Run(int64_t ns) {
    const int64_t until_ns = now_ns_ + ns;
    while (true) {
      while (StartSome()) {
      }
      const auto next = std::min_element(
          running_.begin(), running_.end(),
          [](const Batch& one, const Batch& other) { return one.end_ns < other.end_ns; });
      if (next == running_.end() || next->end_ns > until_ns) break;
      now_ns_ = next->end_ns;
      Model& model = models_[next->model];
      table_.GiveBack(model.claim, model.batch_ns);
      model.ran_ns += model.batch_ns;
      running_.erase(next);
    }
    now_ns_ = until_ns;
  }

  // The lane time of a model since the last call, in ms.
  int64_t TakeRanMs(size_t model) { return std::exchange(models_[model].ran_ns, 0) / kMs; }
  size_t running() const { return running_.size(); }
  ResourceTable* table() { return &table_; }

 private:
  struct Model {
    ResourceClaim* claim;
    int64_t batch_ns;
    bool wants = true;
    int64_t ran_ns = 0;
  };
  struct Batch {
    size_t model;
    int64_t end_ns;
  };

  // A model that started may have kept others from their turn, so they are asked again.
  bool StartSome() {
    bool any = false;
    for (size_t i = 0; i < models_.size(); ++i) {
      if (!models_[i].wants || !table_.TryTake(models_[i].claim)) continue;
      running_.push_back({i, now_ns_ + models_[i].batch_ns});
      any = true;
    }
    return any;
  }

  ResourceTable table_;
  std::vector<Model> models_;
  std::vector<Batch> running_;
  int64_t now_ns_ = 0;
};

TEST(WeightedLanes, EqualWeightsHaveEqualTimeWhateverABatchTakes) {
  Device device;
  const size_t job = device.Add(1, 50 * kMs);
  const size_t chat = device.Add(1, 1 * kMs);
  device.Run(10'000 * kMs);
  EXPECT_NEAR(device.TakeRanMs(job), 5000, 60);
  EXPECT_NEAR(device.TakeRanMs(chat), 5000, 60);
}

TEST(WeightedLanes, TimeIsSharedByWeight) {
  Device device({{"cpu", 2}});
  const size_t job = device.Add(1, 20 * kMs, 2);
  const size_t chat = device.Add(9, 3 * kMs, 2);
  device.Run(10'000 * kMs);
  EXPECT_NEAR(device.TakeRanMs(job), 2000, 100);
  EXPECT_NEAR(device.TakeRanMs(chat), 18'000, 100);
}

TEST(WeightedLanes, WhoIsIdleLeavesItsPartAndSavesNothingUp) {
  Device device;
  const size_t job = device.Add(1, 10 * kMs);
  const size_t chat = device.Add(3, 10 * kMs);
  device.Rest(chat);
  device.Run(4000 * kMs);
  EXPECT_NEAR(device.TakeRanMs(job), 4000, 10);
  device.GoOn(chat);
  device.Run(4000 * kMs);
  EXPECT_NEAR(device.TakeRanMs(job), 1000, 40) << "it gets its part at once";
  EXPECT_NEAR(device.TakeRanMs(chat), 3000, 40);
}

// Nobody knows beforehand how long the first batch takes.
TEST(WeightedLanes, WhatABatchReallyTookCountsAtItsEnd) {
  ResourceTable table;
  ResourceClaim* const slow = table.Enter(OfWeight(1), "cpu", 1);
  ResourceClaim* const other = table.Enter(OfWeight(1), "cpu", 1);
  EXPECT_TRUE(table.TryTake(slow));
  table.GiveBack(slow, 1000 * kMs);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(table.TryTake(other)) << "it has had " << 10 * i << " ms, the other one 1000";
    EXPECT_FALSE(table.TryTake(slow));
    table.GiveBack(other, 10 * kMs);
  }
  EXPECT_TRUE(table.TryTake(slow));
  table.GiveBack(slow, 1000 * kMs);
  for (ResourceClaim* claim : {slow, other}) table.Leave(claim);
}

TEST(WeightedLanes, AsManyRunAtOnceAsTheLargestHasLanes) {
  Device device;
  device.Add(1, 10 * kMs, 2);
  device.Add(1, 10 * kMs, 3);
  device.Run(5 * kMs);
  EXPECT_EQ(device.running(), 3u);
}

TEST(WeightedLanes, OrAsManyAsTheConfigSays) {
  Device device({{"cpu", 1}, {"cuda:0", 7}});
  device.Add(1, 10 * kMs, 2);
  device.Add(1, 10 * kMs, 3);
  device.Run(5 * kMs);
  EXPECT_EQ(device.running(), 1u);
  device.table()->SetLimits({}, {{"cpu", 5}});
  device.Run(1 * kMs);
  EXPECT_EQ(device.running(), 5u);
}

// However much runs on one device, the turns on another one are not moved by it.
TEST(WeightedLanes, EachDeviceHasTurnsOfItsOwn) {
  ResourceTable table;
  ResourceClaim* const far = table.Enter(OfWeight(1), "cuda:0", 1);
  ResourceClaim* const one = table.Enter(OfWeight(1), "cpu", 1);
  ResourceClaim* const other = table.Enter(OfWeight(1), "cpu", 1);
  EXPECT_TRUE(table.TryTake(one));
  table.GiveBack(one, 10 * kMs);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.TryTake(far));
    table.GiveBack(far, 60'000 * kMs);
  }
  EXPECT_TRUE(table.TryTake(other));
  EXPECT_FALSE(table.TryTake(one));
  table.GiveBack(other, 1 * kMs);
  EXPECT_TRUE(table.TryTake(other)) << "it has had 1 ms, and the one that waits 10";
  for (const ResourceSample& sample : table.Samples()) {
    EXPECT_EQ(sample.name, ResourceTable::kWeightedLanes);
  }
  table.GiveBack(other, 1 * kMs);
  for (ResourceClaim* claim : {far, one, other}) table.Leave(claim);
}

}  // namespace
}  // namespace mpsd
