// StageExemplars: for each bucket of the stages' times, a traced request that fell into it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// In the order of EndedRequest.
inline constexpr std::array<const char*, 4> kStageNames = {"queue", "dispatch", "execute",
                                                           "respond"};

// A value.
struct Exemplar {
  std::string trace_id;  // empty: there is none
  double seconds = 0;
  double unix_seconds = 0;  // when the request ended
};

// Only traced requests write here. Owned by TraceLog. Thread-safe.
class StageExemplars {
 public:
  // One for each bucket.
  using Buckets = std::array<Exemplar, kSecondsBounds.size() + 1>;
  // By the beginning of the series' lines on the page: all before the bucket's bound.
  using Series = std::map<std::string, Buckets, std::less<>>;

  // Replaces the last one of its bucket. A model beyond kMaxModels displaces all.
  void Keep(absl::string_view model, absl::string_view version, size_t stage,
            const Exemplar& exemplar) ABSL_LOCKS_EXCLUDED(mu_);

  Series Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  Series series_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
