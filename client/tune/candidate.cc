#include "client/tune/candidate.h"

#include "absl/strings/str_cat.h"

namespace mpsd::tune {

std::string CandidateText(const Candidate& candidate) {
  const Placement& placement = candidate.placement;
  std::string text = "as configured";
  if (placement != Placement()) {
    text = absl::StrCat(placement.processes, " x ", placement.lanes, " x ", placement.threads);
  }
  if (candidate.max_batch_size > 0) absl::StrAppend(&text, ", batch ", candidate.max_batch_size);
  if (!candidate.precision.empty()) absl::StrAppend(&text, ", ", candidate.precision);
  return text;
}

}  // namespace mpsd::tune
