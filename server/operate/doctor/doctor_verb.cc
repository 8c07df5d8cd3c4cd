#include "server/operate/doctor/doctor_verb.h"

#include "absl/status/statusor.h"
#include "proto/base/platform.h"
#include "proto/files/whole_file.h"
#include "proto/link/worker_program.h"
#include "server/config/command_line_config.h"
#include "server/config/config.h"
#include "server/operate/doctor/diagnosis_policy.h"
#include "server/operate/doctor/doctor_report.h"
#include "server/operate/doctor/examine.h"
#include "server/operate/doctor/mac_checklist.h"
#include "server/operate/doctor/mac_report.h"

namespace mpsd {
namespace {

Config DefaultConfig() {
  Config config;
  config.state_dir = DefaultStateDir();
  config.listen.grpc = DefaultGrpcAddresses(config.state_dir);
  return config;
}

std::string WorkerPath(const DoctorOptions& options) {
  return WorkerProgram(options.worker).value_or("mpsd-worker");
}

// Empty if none is named and none is in the usual places.
std::string ConfigFileOf(const DoctorOptions& options) {
  if (!options.config.empty()) return options.config;
  return FindConfig(kConfigPlaces).value_or("");
}

Examination ExamineWith(const DoctorOptions& options) {
  const std::string file = ConfigFileOf(options);
  const absl::StatusOr<Config> config =
      file.empty() ? absl::StatusOr<Config>(DefaultConfig()) : ReadConfig(file);
  Examination seen = Examine(config.ok() ? *config : DefaultConfig(), WorkerPath(options));
  seen.config_file = file;
  seen.config = config.status();
  return seen;
}

// By `./run bench --mac`, in a clone.
constexpr char kBarsFile[] = "build/lane-bars.json";

// Says so on `said`.
absl::Status WriteReport(const DoctorOptions& options, std::string text, std::ostream& said) {
  const bool of_mac = !options.mac_report.empty();
  const std::string& file = of_mac ? options.mac_report : options.report;
  if (of_mac) text += MacReportText(platform::ExecutablePath().value_or("mpsd"), kBarsFile);
  const absl::Status written = WriteWholeFile(file, text);
  if (written.ok()) said << "\n" << file << " is written\n";
  return written;
}

}  // namespace

int RunDoctor(const DoctorOptions& options, std::ostream& out, std::ostream& err) {
  if (options.mac_checklist) {
    out << MacChecklistText();
    return 0;
  }
  const Examination seen = ExamineWith(options);
  const std::vector<Finding> findings = Diagnose(seen);
  out << (options.json ? FindingsJson(findings, NotTried(seen))
                       : FindingsText(findings, NotTried(seen), options.colours));
  int exit_code = 0;
  if (!options.report.empty() || !options.mac_report.empty()) {
    const absl::Status written = WriteReport(
        options, ReportText(options.build, seen, FindingsText(findings, NotTried(seen))),
        options.json ? err : out);
    if (!written.ok()) {
      err << "mpsd: " << written.message() << "\n";
      exit_code = kExitNoReport;
    }
  }
  return WorstOf(findings) == Verdict::kFail ? kExitUnfit : exit_code;
}

}  // namespace mpsd
