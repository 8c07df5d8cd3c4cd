// Properties of the schedule under loads, models and lanes that are drawn at random, in virtual
// time. MPSD_SIMULATED_SCENES=3000 in the environment draws so many scenes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "absl/strings/numbers.h"
#include "load_tests/simulator/simulated_pool.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

constexpr uint32_t kScenes = 60;
constexpr double kMilliNs = 1e6;
constexpr uint32_t kMostLanes = 4;

// A model, its lanes, and what comes: from a third of what the lanes can do to four times as much.
struct Scene {
  double call_ns = 0;  // a batch's time beside its rows
  double row_ns = 0;
  SimulatedPool::Options options;
  SimulatedLoad load;

  SimulatedOutcome Run(bool knows, bool refuses) const {
    const PredictiveScheduler scheduler(1, 0);
    SimulatedPool::Options chosen = options;
    chosen.knows = knows;
    chosen.refuses = refuses;
    const auto curve = [this](uint32_t rows) { return call_ns + row_ns * rows; };
    return SimulatedPool(&scheduler, curve, chosen).Run(load);
  }
};

uint32_t SceneCount() {
  const char* wanted = std::getenv("MPSD_SIMULATED_SCENES");
  uint32_t scenes = kScenes;
  const bool is_number = wanted == nullptr || absl::SimpleAtoi(wanted, &scenes);
  EXPECT_TRUE(is_number) << wanted;
  return scenes;
}

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  double Between(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  // As likely from 1 to 2 as from 10 to 20.
  double Scaled(double least, double most) {
    return std::exp(Between(std::log(least), std::log(most)));
  }
  uint32_t Count(uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(1, most)(random_);
  }

 private:
  std::mt19937 random_;
};

Scene SceneOf(uint32_t seed) {
  Draw draw(seed);
  Scene scene;
  scene.call_ns = draw.Scaled(2, 50) * kMilliNs;
  scene.row_ns = scene.call_ns * draw.Scaled(0.02, 1);
  scene.options.lanes = draw.Count(kMostLanes);
  scene.options.max_batch_rows = 1U << draw.Count(6);
  scene.options.noise = draw.Between(0, 0.2);
  scene.options.seed = seed;
  const uint32_t most = scene.options.max_batch_rows;
  const double batch_ns = scene.call_ns + scene.row_ns * most;
  const double rows_per_s = 1e9 * scene.options.lanes * most / batch_ns;
  scene.load.requests_per_s = rows_per_s * draw.Scaled(0.33, 4);
  scene.load.deadline_ns =
      static_cast<int64_t>(draw.Scaled(2, 20) * (scene.call_ns + scene.row_ns));
  scene.load.length_ns = static_cast<int64_t>(300 * batch_ns / scene.options.lanes);
  return scene;
}

double GoodShare(const SimulatedOutcome& outcome) {
  return static_cast<double>(outcome.good) / static_cast<double>(outcome.offered);
}

class SimulatedProperties : public testing::Test {
 protected:
  template <typename Check>
  void ForAll(Check check) {
    for (uint32_t seed = 1; seed <= SceneCount() && !HasFailure(); ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      check(SceneOf(seed));
    }
  }
};

TEST_F(SimulatedProperties, NoLaneGetsARequestWhoseTimeIsOver) {
  ForAll([](const Scene& scene) {
    EXPECT_EQ(scene.Run(true, true).expired_rows, 0u);
    EXPECT_EQ(scene.Run(false, false).expired_rows, 0u);
  });
}

TEST_F(SimulatedProperties, EachRequestHasOneEnding) {
  ForAll([](const Scene& scene) {
    const SimulatedOutcome outcome = scene.Run(true, true);
    const uint64_t ended = outcome.good + outcome.late + outcome.refused + outcome.dropped;
    const uint64_t inside =
        scene.options.queue_requests + scene.options.lanes * scene.options.max_batch_rows;
    EXPECT_LE(ended, outcome.offered);
    EXPECT_GE(ended + inside, outcome.offered);
  });
}

TEST_F(SimulatedProperties, AsManyAreGoodAsWithoutForecastsAndRefusalsOrNearly) {
  ForAll([](const Scene& scene) {
    EXPECT_GE(GoodShare(scene.Run(true, true)), 0.9 * GoodShare(scene.Run(false, false)));
  });
}

}  // namespace
}  // namespace mpsd
