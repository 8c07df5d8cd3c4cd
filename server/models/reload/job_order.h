// JobOrder: decides which of the reloader's jobs may begin. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

namespace mpsd {

// The model of a load or unload; empty for a reload, which may touch every model.
using JobModel = std::string;

// Index of the first waiting job that may begin beside the running ones; nothing if none may.
//
//   a load or unload   not beside a job of the same model or a reload, and not before one that came
//                      earlier
//   a reload           alone, after all that came earlier
//
// So the jobs of one model keep their order, and a reload waits only for earlier jobs.
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
