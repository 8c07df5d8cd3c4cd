// JobOrder: the order of the reloader's jobs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

namespace mpsd {

// Empty for a reload, which may touch every model.
using JobModel = std::string;

// Index of the first waiting job that may begin; nothing if none may. The jobs of one model keep
// their order; a reload runs alone, after all that came earlier and before all that came later.
inline std::optional<size_t> NextJob(absl::Span<const JobModel> waiting,
                                     absl::Span<const JobModel> running) {
  absl::flat_hash_set<JobModel> busy(running.begin(), running.end());
  for (size_t i = 0; i < waiting.size() && !busy.contains(""); ++i) {
    const bool is_reload = waiting[i].empty();
    if (is_reload ? busy.empty() : !busy.contains(waiting[i])) return i;
    busy.insert(waiting[i]);
  }
  return std::nullopt;
}

}  // namespace mpsd
