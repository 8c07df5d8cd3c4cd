#include "server/telemetry/stage_exemplars.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

size_t BucketOf(double seconds) {
  const auto* const bound = std::lower_bound(kSecondsBounds.begin(), kSecondsBounds.end(), seconds);
  return static_cast<size_t>(bound - kSecondsBounds.begin());
}

}  // namespace

void StageExemplars::Keep(absl::string_view model, absl::string_view version, size_t stage,
                          const Exemplar& exemplar) {
  std::string key = absl::StrCat("mpsd_stage_seconds_bucket{model=\"", model, "\",version=\"",
                                 version, "\",stage=\"", kStageNames[stage], "\",");
  absl::MutexLock lock(&mu_);
  const bool is_full = series_.size() >= kMaxModels * kStageNames.size();
  if (is_full && series_.count(key) == 0) series_.clear();
  series_[std::move(key)][BucketOf(exemplar.seconds)] = exemplar;
}

StageExemplars::Series StageExemplars::Read() const {
  absl::MutexLock lock(&mu_);
  return series_;
}

}  // namespace mpsd
