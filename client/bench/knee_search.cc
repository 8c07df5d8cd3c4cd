#include "client/bench/knee_search.h"

#include <algorithm>
#include <cmath>

#include "proto/base/check.h"

namespace mpsd::bench {
namespace {

constexpr double kFarthest = 1024;  // factor between the first load and any other

}  // namespace

KneeSearch::KneeSearch(const Options& options) : options_(options) {
  MPSD_CHECK(options.first > 0);
}

std::optional<double> KneeSearch::Next() const {
  if (tried_ >= options_.loads_max) return std::nullopt;
  if (met_ == 0 && !missed_) return options_.first;
  if (!missed_) {
    if (met_ * 2 > options_.first * kFarthest) return std::nullopt;
    return met_ * 2;
  }
  if (met_ == 0) {
    if (*missed_ / 2 < options_.first / kFarthest) return std::nullopt;
    return *missed_ / 2;
  }
  if (*missed_ - met_ <= options_.tolerance * *missed_) return std::nullopt;
  return std::sqrt(met_ * *missed_);
}

void KneeSearch::Add(double load, bool met) {
  ++tried_;
  if (met && (!missed_ || load < *missed_)) met_ = std::max(met_, load);
  if (!met) {
    missed_ = std::min(missed_.value_or(load), load);
    if (met_ >= *missed_) met_ = 0;
  }
}

}  // namespace mpsd::bench
