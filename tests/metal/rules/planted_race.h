// PlantedRace: state that Apple's code shares between threads, as far as published reports say.
#pragma once

#include <cstdlib>
#include <optional>

#include "tests/metal/rules/one_thread.h"

namespace mpsd::standin {

// State of the process that takes one thread at a time. It is there only if the environment has
// the variable. Thread-safe.
class PlantedRace {
 public:
  // `what` names the state, and outlives this object.
  PlantedRace(const char* variable, const char* what)
      : is_planted_(std::getenv(variable) != nullptr), state_(what) {}

  // One use of the state. Lives on one thread.
  class Use {
   public:
    explicit Use(PlantedRace& race) {
      if (race.is_planted_) turn_.emplace(race.state_);
    }

   private:
    std::optional<OneThread::Turn> turn_;
  };

 private:
  const bool is_planted_;
  OneThread state_;
};

}  // namespace mpsd::standin
