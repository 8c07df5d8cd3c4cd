// BarProcess: a process that runs one bar, as the process that started it sees it.
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

// Starts the process and reads what it tells (bar_outcome.h). An end without an outcome is an
// error, whose text says how the process ended and in which stage: "signal 6 in the stage 'cold'".
// The process is killed, if it still runs, and reaped by the destructor. Thread-compatible.
class BarProcess {
 public:
  // Starts `program` with these arguments; what it prints goes to stderr.
  static absl::StatusOr<std::unique_ptr<BarProcess>> Start(const std::string& program,
                                                           std::vector<std::string> arguments);
  BarProcess(const BarProcess&) = delete;
  BarProcess& operator=(const BarProcess&) = delete;
  ~BarProcess();

  // Blocks until the process is ready. DEADLINE_EXCEEDED when it is not by then.
  absl::Status AwaitReady(int64_t until_ns);

  // Has the process begin.
  void Begin();

  // Blocks until the process has told its outcome. DEADLINE_EXCEEDED when it has not by then.
  absl::StatusOr<BarOutcome> AwaitOutcome(int64_t until_ns);

 private:
  BarProcess(pid_t pid, UniqueFd control) : pid_(pid), control_(std::move(control)) {}

  // The next line that is no stage, or that is the stage "ready".
  absl::StatusOr<nlohmann::json> NextLine(int64_t until_ns);
  absl::StatusOr<std::string> ReadLine(int64_t until_ns);
  absl::Status Ended();
  absl::Status InStage(absl::StatusCode code, const std::string& what) const;

  pid_t pid_;  // -1 once reaped
  const UniqueFd control_;
  std::string stage_ = "start";
  std::string unread_;  // behind the last line
};

}  // namespace mpsd::load
