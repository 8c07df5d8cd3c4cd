// BarOutcome: the result of a bar's process, sent to its parent as lines of JSON on descriptor 3.
//
//   {"stage": "cold"}, {"stage": "alone"}     as the stages begin
//   {"stage": "ready"}                        waits for a byte, so that processes begin together
//   {"stage": "warm"}
//   {"outcome": {…}} or {"error": "…"}        the last line
#pragma once

#include <map>
#include <string>
#include <vector>

#include "load_tests/bars/bar_task.h"
#include "load_tests/bars/lane_bar.h"
#include "nlohmann/json.hpp"

namespace mpsd::load {

// Equal for all processes of a run.
struct BarHost {
  std::string device;
  std::string libtorch;  // "torch 2.11.0"
  std::string kind;      // libtorch's kind: "stock", "patched", …
  std::string library;   // libtorch's file
  std::string driver_guard;
};

struct BarOutcome {
  BarHost host;
  std::map<std::string, RunCounts> operators;
  double seconds = 0;
  double rate = 0;
  std::string first_fault;

  RunCounts all() const;

  void Add(const BarOutcome& other);
};

BarOutcome OutcomeOf(const LaneBarOutcome& lanes, const std::vector<BarTask>& tasks,
                     const BarHost& host);

nlohmann::ordered_json ToJson(const RunCounts& counts);
nlohmann::ordered_json ToJson(const BarOutcome& outcome);

// REQUIRES: ToJson() made `json` in a process of this program.
BarOutcome OutcomeFrom(const nlohmann::json& json);

}  // namespace mpsd::load
