// Finding: one line of `mpsd doctor`.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

enum class Verdict {
  kOk,
  kWarn,  // mpsd serves, but less well than the host could
  kFail,  // mpsd does not serve, or not safely
};

// A value.
struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string topic;   // "descriptors"; unique in a report
  std::string seen;    // the fact, with figures
  std::string remedy;  // empty: nothing to do

  bool operator==(const Finding&) const = default;
};

// "OK", "WARN" or "FAIL". Pure.
inline absl::string_view NameOfVerdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "OK";
    case Verdict::kWarn:
      return "WARN";
    case Verdict::kFail:
      return "FAIL";
  }
  return "";
}

}  // namespace mpsd
