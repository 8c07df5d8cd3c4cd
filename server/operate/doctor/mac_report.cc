#include "server/operate/doctor/mac_report.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

constexpr int64_t kProgramNs = 60 * kNsPerSecond;
constexpr uint64_t kMostBytes = 1 << 20;

std::string Part(absl::string_view title, const absl::StatusOr<std::string>& text) {
  return absl::StrCat(
      "\n== ", title, "\n",
      text.ok() ? *text : absl::StrCat("not there: ", text.status().message(), "\n"));
}

std::string OutputOf(const std::string& program, std::vector<std::string> arguments) {
  const std::string title = absl::StrCat(program, " ", absl::StrJoin(arguments, " "));
  const absl::StatusOr<ChildOutput> output = RunChild(program, std::move(arguments), kProgramNs);
  if (!output.ok()) return Part(title, output.status());
  return Part(title, output->text);
}

}  // namespace

std::string MacReportText(const std::string& program, const std::string& bars) {
  return absl::StrCat(
      OutputOf("/usr/bin/sw_vers", {}),
      OutputOf("/usr/sbin/sysctl", {"machdep.cpu.brand_string", "hw.ncpu", "hw.memsize"}),
      OutputOf(program, {"ps"}), OutputOf(program, {"ps", "--json"}),
      OutputOf(program, {"logs", "--lines", "200"}), Part(bars, ReadWholeFile(bars, kMostBytes)));
}

}  // namespace mpsd
