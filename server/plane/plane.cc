#include "server/plane/plane.h"

namespace mpsd {

void Plane::Add(Pool* pool) {
  absl::MutexLock lock(&mu_);
  pools_.push_back(pool);
}

void Plane::Remove(Pool* pool) {
  absl::MutexLock lock(&mu_);
  std::erase(pools_, pool);
}

size_t Plane::DrainAll(bool after_timeout) {
  size_t count = 0;
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) {
    if (pool->inside() > 0 || pool->busy()) count += pool->Drain(after_timeout);
  }
  return count;
}

// While another thread is awake no worker needs to ring, and that thread takes the completions that
// are noted here before it sleeps. Wake() says whether there is such a thread.
void Plane::WakeByTimeOut() {
  NoteAnnounced();
  if (Wake()) DrainAll(true);
}

bool Plane::Wake() {
  const bool first = awake_.fetch_add(1, std::memory_order_seq_cst) == 0;
  // A thread that parks is seen awake, or parking, or it has looked for the last time.
  const bool alone = first && parking_.load(std::memory_order_seq_cst) == 0;
  if (first) SetParked(false);
  return alone;
}

bool Plane::Park() {
  parking_.fetch_add(1, std::memory_order_seq_cst);
  if (awake_.fetch_sub(1, std::memory_order_seq_cst) == 1) SetParked(true);
  const bool quiet = Drain() == 0;
  if (!quiet) Wake();
  parking_.fetch_sub(1, std::memory_order_seq_cst);
  return quiet;
}

void Plane::Tick() {
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) pool->Tick();
}

void Plane::FailAll(const char* text) {
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) pool->FailAll(text);
}

int64_t Plane::inside() const {
  int64_t inside = 0;
  absl::ReaderMutexLock lock(&mu_);
  for (const Pool* pool : pools_) inside += pool->inside();
  return inside;
}

void Plane::NoteAnnounced() {
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) pool->NoteAnnounced();
}

void Plane::SetParked(bool parked) {
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) pool->SetParked(parked);
}

}  // namespace mpsd
