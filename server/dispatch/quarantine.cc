#include "server/dispatch/quarantine.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace mpsd {

uint64_t HashContent(const Request& request, const RowTargets& targets) {
  uint64_t hash = absl::HashOf(request.rows, request.key);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const absl::string_view rows(targets.inputs[i], request.inputs[i].Bytes(request.rows));
    hash = absl::HashOf(hash, rows);
  }
  return hash;
}

void Quarantine::Add(uint64_t content, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  std::erase_if(entries_, [content](const Entry& entry) { return entry.content == content; });
  if (entries_.size() == kMaxContents) entries_.pop_front();
  entries_.push_back({content, now_ns + kPeriodNs});
  size_.store(entries_.size(), std::memory_order_release);
}

bool Quarantine::Holds(uint64_t content, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  while (!entries_.empty() && entries_.front().until_ns <= now_ns) entries_.pop_front();
  size_.store(entries_.size(), std::memory_order_release);
  return std::any_of(entries_.begin(), entries_.end(),
                     [content](const Entry& entry) { return entry.content == content; });
}

}  // namespace mpsd
