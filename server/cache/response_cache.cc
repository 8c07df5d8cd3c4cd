#include "server/cache/response_cache.h"

#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

// Overhead of one KeptAnswer: a list's node, a hash table's entry and the heap's share, rounded up.
constexpr uint64_t kPlaceBytes = 256;

uint64_t TensorBytesOf(const Answer& answer) {
  uint64_t bytes = 0;
  for (const AnswerOutput& output : answer.outputs) bytes += output.bytes.size();
  return bytes;
}

// How many answers of a shelf are dropped under one lock.
constexpr size_t kDroppedAtOnce = 256;

}  // namespace

uint64_t KeptAnswer::BytesOf(const Answer& answer) {
  return kPlaceBytes + sizeof(KeptAnswer) + answer.outputs.size() * sizeof(AnswerOutput) +
         TensorBytesOf(answer);
}

KeptAnswer::KeptAnswer(const Answer& answer)
    : bytes_(new char[TensorBytesOf(answer)]),
      outputs_(answer.outputs.begin(), answer.outputs.end()) {
  char* at = bytes_.get();
  for (AnswerOutput& output : outputs_) {
    MPSD_CHECK(output.region.name.empty());
    if (!output.bytes.empty()) std::memcpy(at, output.bytes.data(), output.bytes.size());
    output.bytes = absl::string_view(at, output.bytes.size());
    at += output.bytes.size();
  }
}

Answer KeptAnswer::View() const {
  Answer answer;
  answer.outputs.assign(outputs_.begin(), outputs_.end());
  return answer;
}

uint64_t ResponseCache::AddShelf() {
  absl::MutexLock lock(&mu_);
  shelves_[++last_shelf_];
  return last_shelf_;
}

void ResponseCache::MoveOut(Entries::iterator entry, Entries* out) {
  MPSD_CHECK(bytes_ >= entry->bytes);
  bytes_ -= entry->bytes;
  out->splice(out->end(), entries_, entry);
}

bool ResponseCache::MoveSomeOut(uint64_t shelf, Entries* out) {
  absl::MutexLock lock(&mu_);
  const auto found = shelves_.find(shelf);
  MPSD_CHECK(found != shelves_.end());
  for (auto at = found->second.begin(); at != found->second.end();) {
    if (out->size() == kDroppedAtOnce) return true;
    MoveOut(at->second, out);
    found->second.erase(at++);
  }
  shelves_.erase(found);
  return false;
}

void ResponseCache::DropShelf(uint64_t shelf) {
  for (bool has_more = true; has_more;) {
    Entries dropped;
    has_more = MoveSomeOut(shelf, &dropped);
  }
}

std::shared_ptr<const KeptAnswer> ResponseCache::Find(uint64_t shelf, const ContentKey& key) {
  absl::MutexLock lock(&mu_);
  const Shelf& answers = shelves_.at(shelf);
  const auto found = answers.find(key);
  if (found == answers.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void ResponseCache::Put(uint64_t shelf, const ContentKey& key,
                        std::shared_ptr<const KeptAnswer> answer, uint64_t bytes) {
  MPSD_CHECK(Takes(bytes));
  Entries evicted;
  Entries added;
  added.push_back({shelf, key, std::move(answer), bytes});
  absl::MutexLock lock(&mu_);
  if (!shelves_.at(shelf).try_emplace(key, added.begin()).second) return;
  entries_.splice(entries_.begin(), added);
  bytes_ += bytes;
  while (bytes_ > bytes_max_) {
    const auto last = std::prev(entries_.end());
    shelves_.at(last->shelf).erase(last->key);
    MoveOut(last, &evicted);
    ++evicted_;
  }
}

ResponseCache::Usage ResponseCache::usage() const {
  absl::MutexLock lock(&mu_);
  return {entries_.size(), bytes_, evicted_};
}

}  // namespace mpsd
