// The work of the two sides with ring and doorbell, as bodies for a Machine.
#pragma once

#include <string>
#include <vector>

#include "tests/model/machine.h"

namespace mpsd::model {

struct Scenario {
  const char* name;
  Verdict (*search)();
};

// Each of them, with the orders that SimulatedAtomics holds at the time of the call.
const std::vector<Scenario>& RingScenarios();

// The first fault that a scenario finds, as "scenario: fault"; empty when there is none.
std::string FirstFault();

}  // namespace mpsd::model
