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

void Quarantine::ForgetOld(int64_t now_ns) {
  while (!entries_.empty() && entries_.front().until_ns <= now_ns) entries_.pop_front();
  size_.store(entries_.size(), std::memory_order_release);
}

std::vector<RefusedContent> Quarantine::Contents(int64_t now_ns) {
  std::vector<RefusedContent> contents;
  absl::MutexLock lock(&mu_);
  ForgetOld(now_ns);
  for (const Entry& entry : entries_) {
    contents.push_back({entry.content, now_ns - (entry.until_ns - kPeriodNs)});
  }
  return contents;
}

size_t Quarantine::Forgive() {
  absl::MutexLock lock(&mu_);
  const size_t count = entries_.size();
  entries_.clear();
  size_.store(0, std::memory_order_release);
  return count;
}

bool Quarantine::Holds(uint64_t content, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  ForgetOld(now_ns);
  return std::any_of(entries_.begin(), entries_.end(),
                     [content](const Entry& entry) { return entry.content == content; });
}

}  // namespace mpsd
