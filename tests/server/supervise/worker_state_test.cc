#include "server/supervise/worker_state.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace mpsd {
namespace {

using State = WorkerState;

// The whole list of what may happen, as it is written at the states themselves.
TEST(WorkerState, GoesNoOtherWay) {
  const std::set<std::pair<State, State>> legal = {
      {State::kWaiting, State::kLoading}, {State::kLoading, State::kWarming},
      {State::kLoading, State::kEnding},  {State::kLoading, State::kWaiting},
      {State::kWarming, State::kServing}, {State::kWarming, State::kEnding},
      {State::kWarming, State::kWaiting}, {State::kServing, State::kDraining},
      {State::kServing, State::kEnding},  {State::kServing, State::kWaiting},
      {State::kDraining, State::kEnding}, {State::kDraining, State::kWaiting},
      {State::kEnding, State::kWaiting}};
  for (int from = 0; from < kWorkerStates; ++from) {
    for (int to = 0; to < kWorkerStates; ++to) {
      const auto step = std::make_pair(static_cast<State>(from), static_cast<State>(to));
      EXPECT_EQ(MayFollow(step.first, step.second), legal.count(step) == 1)
          << WorkerStateName(step.first) << " to " << WorkerStateName(step.second);
    }
  }
}

}  // namespace
}  // namespace mpsd
