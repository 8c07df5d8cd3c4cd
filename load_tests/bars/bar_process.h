// BarProcess: a process that runs one bar, as its parent sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "load_tests/bars/bar_outcome.h"
#include "nlohmann/json.hpp"
#include "proto/base/fd.h"

namespace mpsd::load {

// Without an outcome, the error says how and where the process ended: "signal 6 in the stage
// 'cold'". The destructor kills a running process, and reaps it. Thread-compatible.
class BarProcess {
 public:
  // The output of `program` goes to stderr.
  static absl::StatusOr<std::unique_ptr<BarProcess>> Start(const std::string& program,
                                                           std::vector<std::string> arguments);
  BarProcess(const BarProcess&) = delete;
  BarProcess& operator=(const BarProcess&) = delete;
  ~BarProcess();

  // DEADLINE_EXCEEDED if the process is not ready by `until_ns`.
  absl::Status AwaitReady(int64_t until_ns);

  void Begin();

  // DEADLINE_EXCEEDED if there is no outcome by `until_ns`.
  absl::StatusOr<BarOutcome> AwaitOutcome(int64_t until_ns);

 private:
  BarProcess(pid_t pid, UniqueFd control) : pid_(pid), control_(std::move(control)) {}

  // The next line that is the stage "ready" or no stage at all.
  absl::StatusOr<nlohmann::json> NextLine(int64_t until_ns);
  absl::StatusOr<std::string> ReadLine(int64_t until_ns);
  absl::Status Ended();
  absl::Status InStage(absl::StatusCode code, const std::string& what) const;

  pid_t pid_;  // -1 once reaped
  const UniqueFd control_;
  std::string stage_ = "start";
  std::string unread_;  // after the last whole line
};

}  // namespace mpsd::load
