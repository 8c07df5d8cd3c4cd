#include "server/operate/doctor/doctor_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/colour.h"
#include "server/operate/doctor/diagnosis_policy.h"

namespace mpsd {
namespace {

using nlohmann::ordered_json;

Colour ColourOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return Colour::kGreen;
    case Verdict::kWarn:
      return Colour::kYellow;
    case Verdict::kFail:
      return Colour::kRed;
  }
  return Colour::kNone;
}

}  // namespace

std::string FindingsText(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried, bool colours) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string verdict = absl::StrFormat("%-4s", NameOfVerdict(finding.verdict));
    absl::StrAppend(&text, Coloured(verdict, ColourOf(finding.verdict), colours), "  ",
                    finding.topic, ": ", finding.seen, "\n");
    if (!finding.remedy.empty()) absl::StrAppend(&text, "      do: ", finding.remedy, "\n");
  }
  for (const std::string& what : not_tried) absl::StrAppend(&text, "not tried: ", what, "\n");
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried) {
  ordered_json list = ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"topic", finding.topic},
                    {"verdict", std::string(NameOfVerdict(finding.verdict))},
                    {"seen", finding.seen},
                    {"remedy", finding.remedy}});
  }
  const ordered_json report = {{"version", MPSD_VERSION},
                               {"verdict", std::string(NameOfVerdict(WorstOf(findings)))},
                               {"findings", std::move(list)},
                               {"not_tried", not_tried}};
  return report.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string ReportText(const std::string& build, const Examination& seen,
                       const std::string& findings_text) {
  std::string text = absl::StrCat(
      build, "\n\n", findings_text,
      "\nmpsd-worker --devices: ", absl::Utf8SafeCEscape(seen.worker.devices_line),
      "\nmpsd-worker --sandbox: ", absl::Utf8SafeCEscape(seen.worker.sandbox_line), "\n");
  for (const std::string& variable : seen.environment) {
    absl::StrAppend(&text, "environment: ", absl::Utf8SafeCEscape(variable), "\n");
  }
  return text;
}

}  // namespace mpsd
