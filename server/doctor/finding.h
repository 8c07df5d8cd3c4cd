// Finding: one line of what `mpsd doctor` says: what is so on this host, whether that is well, and
// what mends it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

enum class Verdict {
  kOk,    // nothing to do
  kWarn,  // mpsd serves, but less well than the host could
  kFail,  // mpsd does not serve, or not safely
};

// A value, made by Diagnose().
struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string topic;   // "descriptors"; no two findings of a report have the same
  std::string seen;    // what is so, with its figures
  std::string remedy;  // what to do about it; empty: nothing

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
