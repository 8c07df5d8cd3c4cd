// mpsd-lane-bars: checks that many lanes answer as one lane alone, and measures how lanes and
// processes scale.
//
// Run with:
//   mpsd-lane-bars --device cuda:0 --only soak --soak 2000000 --limit 7m
//
// Exit status 0 if all bars pass, 1 if one fails, 64 for a wrong command line, 74 if the report
// cannot be written.

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "load_tests/bars/bar_child.h"
#include "load_tests/bars/bar_plan.h"
#include "load_tests/bars/bar_process.h"
#include "load_tests/bars/bars_options.h"
#include "load_tests/bars/bars_report.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"

namespace mpsd::load {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 64;
constexpr int kExitNoReport = 74;
// Longest wait for a process to become ready, and beyond the time of its warm stage.
constexpr int64_t kPatienceNs = 120 * kNsPerSecond;

std::vector<std::string> ArgumentsFor(const PlannedBar& bar, int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  arguments.insert(arguments.end(), {"--run", bar.name});
  return arguments;
}

// Lets the bar's processes begin together, and joins their outcomes.
absl::StatusOr<BarOutcome> RunBar(const PlannedBar& bar, const std::string& program,
                                  const std::vector<std::string>& arguments) {
  std::vector<std::unique_ptr<BarProcess>> processes;
  for (uint32_t i = 0; i < bar.processes; ++i) {
    absl::StatusOr<std::unique_ptr<BarProcess>> process = BarProcess::Start(program, arguments);
    if (!process.ok()) return process.status();
    processes.push_back(*std::move(process));
  }
  const Clock* clock = Clock::Real();
  const int64_t ready_by_ns = clock->NowNs() + kPatienceNs;
  for (const auto& process : processes) {
    if (absl::Status status = process->AwaitReady(ready_by_ns); !status.ok()) return status;
  }
  for (const auto& process : processes) process->Begin();
  const int64_t end_by_ns = clock->NowNs() + bar.lanes.ns_max + kPatienceNs;
  BarOutcome joined;
  for (const auto& process : processes) {
    const absl::StatusOr<BarOutcome> outcome = process->AwaitOutcome(end_by_ns);
    if (!outcome.ok()) return outcome.status();
    joined.Add(*outcome);
  }
  return joined;
}

std::string System() {
  utsname name{};
  uname(&name);
  return absl::StrCat(name.sysname, " ", name.release, " ", name.machine, ", ",
                      platform::UsableCores(), " cores");
}

// Writes the report so far, so that a run that is cut short leaves one.
bool WriteReport(const BarsOptions& options, const BarsReport& report) {
  if (options.report.empty()) return true;
  std::ofstream file(options.report);
  file << report.Json(System()).dump(2) << "\n";
  if (file.flush()) return true;
  std::fprintf(stderr, "cannot write %s\n", options.report.c_str());
  return false;
}

int RunBars(const BarsOptions& options, int argc, char** argv) {
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", std::string(program.status().message()).c_str());
    return kExitFailed;
  }
  BarsReport report(options);
  std::printf("%s\n", BarsReport::Header().c_str());
  for (const PlannedBar& bar : PlanBars(options)) {
    report.Add(bar, RunBar(bar, *program, ArgumentsFor(bar, argc, argv)));
    std::printf("%s\n", report.LastLine().c_str());
    std::fflush(stdout);
    if (!WriteReport(options, report)) return kExitNoReport;
  }
  if (!options.report.empty()) std::printf("report: %s\n", options.report.c_str());
  return report.passed() ? 0 : kExitFailed;
}

int Main(int argc, char** argv) {
  BarsOptions options;
  if (const std::optional<int> exit_status = ParseCommandLine(argc, argv, &options)) {
    return *exit_status;
  }
  if (options.run.empty()) return RunBars(options, argc, argv);
  for (const PlannedBar& bar : PlanBars(options)) {
    if (bar.name == options.run) RunBarAsChild(options, bar);
  }
  std::fprintf(stderr, "there is no bar '%s'\n", options.run.c_str());
  return kExitUsage;
}

}  // namespace
}  // namespace mpsd::load

int main(int argc, char** argv) { return mpsd::load::Main(argc, argv); }
