#include "server/pool/quarantine.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {
namespace {

constexpr uint64_t kPieceBytes = 64;

// Hashes what all rows share. A pin names a lane and is no content.
uint64_t HashShapes(const Request& request) {
  const absl::Span<const int64_t> key(request.key);
  return absl::HashOf(request.rows,
                      key.first(key.size() - (request.pin != 0 && !key.empty() ? 1 : 0)));
}

// Hashes pieces of equal size and distance, including the first and last bytes.
uint64_t HashPieces(uint64_t hash, absl::string_view rows) {
  constexpr uint64_t kPieces = kSampledBytes / kPieceBytes;
  const uint64_t last = rows.size() - kPieceBytes;
  for (uint64_t piece = 0; piece < kPieces; ++piece) {
    hash = absl::HashOf(hash, rows.substr(last * piece / (kPieces - 1), kPieceBytes));
  }
  return absl::HashOf(hash, rows.size());
}

}  // namespace

uint64_t HashContent(const Request& request) {
  uint64_t hash = HashShapes(request);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const absl::string_view rows(request.rows_at[i], request.inputs[i].Bytes(request.rows));
    hash = absl::HashOf(hash, rows);
  }
  return hash;
}

uint64_t SampleContent(const Request& request) {
  uint64_t hash = HashShapes(request);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const absl::string_view rows(request.rows_at[i], request.inputs[i].Bytes(request.rows));
    hash = rows.size() <= kSampledBytes ? absl::HashOf(hash, rows) : HashPieces(hash, rows);
  }
  return hash;
}

std::deque<Quarantine::Entry>::iterator Quarantine::Find(std::deque<Entry>* entries,
                                                         uint64_t content) {
  return std::find_if(entries->begin(), entries->end(),
                      [content](const Entry& entry) { return entry.content == content; });
}

void Quarantine::Remember(std::deque<Entry>* entries, uint64_t content, int64_t now_ns) {
  const auto known = Find(entries, content);
  if (known != entries->end()) entries->erase(known);
  if (entries->size() == kMaxContents) entries->pop_front();
  entries->push_back({content, now_ns + kPeriodNs});
}

bool Quarantine::NoteDeath(uint64_t sample, int64_t now_ns) {
  if (WasAnswered(sample)) return false;
  absl::MutexLock lock(&mu_);
  ForgetOld(now_ns);
  const bool is_second = Find(&deaths_, sample) != deaths_.end();
  Remember(&deaths_, sample, now_ns);
  deaths_size_.store(deaths_.size(), std::memory_order_relaxed);
  return is_second;
}

// Another thread may see the note a moment later: deaths are minutes apart.
void Quarantine::NoteAnswered(uint64_t sample) {
  answered_[sample % kMaxAnswered].store(sample, std::memory_order_relaxed);
  if (deaths_size_.load(std::memory_order_relaxed) == 0) return;
  absl::MutexLock lock(&mu_);
  const auto death = Find(&deaths_, sample);
  if (death != deaths_.end()) deaths_.erase(death);
  deaths_size_.store(deaths_.size(), std::memory_order_relaxed);
}

bool Quarantine::WasAnswered(uint64_t sample) const {
  return answered_[sample % kMaxAnswered].load(std::memory_order_relaxed) == sample;
}

void Quarantine::Add(uint64_t content, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  Remember(&entries_, content, now_ns);
  size_.store(entries_.size(), std::memory_order_release);
}

void Quarantine::ForgetOld(int64_t now_ns) {
  for (std::deque<Entry>* entries : {&entries_, &deaths_}) {
    while (!entries->empty() && entries->front().until_ns <= now_ns) entries->pop_front();
  }
  size_.store(entries_.size(), std::memory_order_release);
  deaths_size_.store(deaths_.size(), std::memory_order_relaxed);
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
  deaths_.clear();
  size_.store(0, std::memory_order_release);
  deaths_size_.store(0, std::memory_order_relaxed);
  return count;
}

bool Quarantine::Holds(uint64_t content, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  ForgetOld(now_ns);
  return Find(&entries_, content) != entries_.end();
}

}  // namespace mpsd
