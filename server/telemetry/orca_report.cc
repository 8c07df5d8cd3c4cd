#include "server/telemetry/orca_report.h"

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mpsd {
namespace {

// Field numbers of xds.data.orca.v3.OrcaLoadReport. All are below 16, so a tag is one byte.
constexpr int kNamedMetrics = 8;
constexpr int kFixed64 = 1;
constexpr int kLengthDelimited = 2;

struct Figure {
  const char* name;
  int field;
  double value;
};

std::array<Figure, 5> FiguresOf(const OrcaReport& report) {
  return {{{"application_utilization", 9, report.application_utilization},
           {"cpu_utilization", 1, report.cpu_utilization},
           {"mem_utilization", 2, report.mem_utilization},
           {"rps_fractional", 6, report.rps_fractional},
           {"eps", 7, report.eps}}};
}

void AppendTag(int field, int type, std::string* bytes) {
  bytes->push_back(static_cast<char>(field << 3 | type));
}

void AppendDouble(int field, double value, std::string* bytes) {
  AppendTag(field, kFixed64, bytes);
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  bytes->append(raw, sizeof(raw));
}

void AppendLength(size_t length, std::string* bytes) {
  for (; length >= 0x80; length >>= 7) bytes->push_back(static_cast<char>(length | 0x80));
  bytes->push_back(static_cast<char>(length));
}

// An entry of a map is a message of two fields: the key, and the value.
void AppendNamed(absl::string_view name, double value, std::string* bytes) {
  std::string entry;
  AppendTag(1, kLengthDelimited, &entry);
  AppendLength(name.size(), &entry);
  absl::StrAppend(&entry, name);
  AppendDouble(2, value, &entry);
  AppendTag(kNamedMetrics, kLengthDelimited, bytes);
  AppendLength(entry.size(), bytes);
  bytes->append(entry);
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
    AppendDouble(figure.field, figure.value, &forms.bytes);
  }
  std::vector<std::string> named;
  for (const auto& [name, value] : report.named_metrics) {
    if (!names) break;
    texts.push_back(absl::StrCat("named_metrics.", name, "=", value));
    named.push_back(absl::StrCat("\"", name, "\":", value));
    AppendNamed(name, value, &forms.bytes);
  }
  if (!named.empty()) {
    members.push_back(absl::StrCat("\"named_metrics\":{", absl::StrJoin(named, ","), "}"));
  }
  forms.text = absl::StrJoin(texts, ",");
  forms.json = absl::StrCat("{", absl::StrJoin(members, ","), "}");
  return forms;
}

}  // namespace mpsd
