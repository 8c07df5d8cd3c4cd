#include "load_tests/bars/bar_outcome.h"

#include <algorithm>

namespace mpsd::load {
namespace {

RunCounts CountsFrom(const nlohmann::json& json) {
  return {json.at("cold"), json.at("warm"), json.at("other_bits"), json.at("wrong"),
          json.at("failed")};
}

}  // namespace

RunCounts BarOutcome::all() const {
  RunCounts sum;
  for (const auto& [name, counts] : operators) sum += counts;
  return sum;
}

void BarOutcome::Add(const BarOutcome& other) {
  host = other.host;
  for (const auto& [name, counts] : other.operators) operators[name] += counts;
  seconds = std::max(seconds, other.seconds);
  rate += other.rate;
  if (first_fault.empty()) first_fault = other.first_fault;
}

BarOutcome OutcomeOf(const LaneBarOutcome& lanes, const std::vector<BarTask>& tasks,
                     const BarHost& host) {
  BarOutcome outcome;
  outcome.host = host;
  for (size_t task = 0; task < tasks.size(); ++task) {
    outcome.operators[NameOf(tasks[task].kind)] += lanes.tasks[task];
  }
  outcome.seconds = lanes.seconds;
  outcome.rate = lanes.rate;
  outcome.first_fault = lanes.first_fault;
  return outcome;
}

nlohmann::ordered_json ToJson(const RunCounts& counts) {
  return {{"cold", counts.cold},
          {"warm", counts.warm},
          {"other_bits", counts.other_bits},
          {"wrong", counts.wrong},
          {"failed", counts.failed}};
}

nlohmann::ordered_json ToJson(const BarOutcome& outcome) {
  nlohmann::ordered_json operators = nlohmann::ordered_json::object();
  for (const auto& [name, counts] : outcome.operators) operators[name] = ToJson(counts);
  return {{"host",
           {{"device", outcome.host.device},
            {"libtorch", outcome.host.libtorch},
            {"kind", outcome.host.kind},
            {"library", outcome.host.library},
            {"driver_guard", outcome.host.driver_guard}}},
          {"operators", operators},
          {"seconds", outcome.seconds},
          {"rate", outcome.rate},
          {"first_fault", outcome.first_fault}};
}

BarOutcome OutcomeFrom(const nlohmann::json& json) {
  const nlohmann::json& host = json.at("host");
  BarOutcome outcome;
  outcome.host = {host.at("device"), host.at("libtorch"), host.at("kind"), host.at("library"),
                  host.at("driver_guard")};
  for (const auto& [name, counts] : json.at("operators").items()) {
    outcome.operators[name] = CountsFrom(counts);
  }
  outcome.seconds = json.at("seconds");
  outcome.rate = json.at("rate");
  outcome.first_fault = json.at("first_fault");
  return outcome;
}

}  // namespace mpsd::load
