#include "server/doctor/doctor_report.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd {

std::string FindingsText(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried) {
  std::string text;
  for (const Finding& finding : findings) {
    absl::StrAppendFormat(&text, "%-4s  %s: %s\n", NameOfVerdict(finding.verdict), finding.topic,
                          finding.seen);
    if (!finding.remedy.empty()) absl::StrAppend(&text, "      do: ", finding.remedy, "\n");
  }
  for (const std::string& what : not_tried) absl::StrAppend(&text, "not tried: ", what, "\n");
  return text;
}

std::string ReportText(const Examination& seen, const std::string& findings_text) {
  std::string text = absl::StrCat(
      "mpsd ", MPSD_VERSION, "\n\n", findings_text,
      "\nmpsd-worker --devices: ", absl::Utf8SafeCEscape(seen.worker.devices_line),
      "\nmpsd-worker --sandbox: ", absl::Utf8SafeCEscape(seen.worker.sandbox_line), "\n");
  for (const std::string& variable : seen.environment) {
    absl::StrAppend(&text, "environment: ", absl::Utf8SafeCEscape(variable), "\n");
  }
  return text;
}

}  // namespace mpsd
