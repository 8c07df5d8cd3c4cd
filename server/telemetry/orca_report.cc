#include "server/telemetry/orca_report.h"

#include <array>
#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/encoding/protobuf_writer.h"

namespace mpsd {
namespace {

// Field numbers here stand in xds.data.orca.v3.OrcaLoadReport.
constexpr uint32_t kNamedMetrics = 8;

struct Figure {
  const char* name;
  uint32_t field;
  double value;
};

std::array<Figure, 5> FiguresOf(const OrcaReport& report) {
  return {{{"application_utilization", 9, report.application_utilization},
           {"cpu_utilization", 1, report.cpu_utilization},
           {"mem_utilization", 2, report.mem_utilization},
           {"rps_fractional", 6, report.rps_fractional},
           {"eps", 7, report.eps}}};
}

void PutDouble(uint32_t field, double value, std::string* bytes) {
  PutFixed64(field, std::bit_cast<uint64_t>(value), bytes);
}

// An entry of a map is a message of two fields: the key, and the value.
void PutNamed(absl::string_view name, double value, std::string* bytes) {
  std::string entry;
  PutText(1, name, &entry);
  PutDouble(2, value, &entry);
  PutText(kNamedMetrics, entry, bytes);
}

}  // namespace

OrcaForms FormsOf(const OrcaReport& report, bool names) {
  std::vector<std::string> texts;
  std::vector<std::string> members;
  OrcaForms forms;
  for (const Figure& figure : FiguresOf(report)) {
    if (figure.value == 0) continue;
    texts.push_back(absl::StrCat(figure.name, "=", figure.value));
    members.push_back(absl::StrCat("\"", figure.name, "\":", figure.value));
    PutDouble(figure.field, figure.value, &forms.bytes);
  }
  std::vector<std::string> named;
  for (const auto& [name, value] : report.named_metrics) {
    if (!names) break;
    texts.push_back(absl::StrCat("named_metrics.", name, "=", value));
    named.push_back(absl::StrCat("\"", name, "\":", value));
    PutNamed(name, value, &forms.bytes);
  }
  if (!named.empty()) {
    members.push_back(absl::StrCat("\"named_metrics\":{", absl::StrJoin(named, ","), "}"));
  }
  forms.text = absl::StrJoin(texts, ",");
  forms.json = absl::StrCat("{", absl::StrJoin(members, ","), "}");
  return forms;
}

}  // namespace mpsd
