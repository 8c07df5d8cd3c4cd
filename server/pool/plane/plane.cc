#include "server/pool/plane/plane.h"

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

// An awake thread takes the completions noted here before it sleeps; Wake() tells whether there is
// one. A lane rings before it announces. So what is announced now still rings, unless an awake
// thread has cleared the bell.
void Plane::WakeByTimeOut() {
  NoteAnnounced();
  const bool rings = bells_.Ring();
  if (Wake() && !rings) DrainAll(true);
}

bool Plane::Wake() {
  const bool first = awake_.fetch_add(1, std::memory_order_seq_cst) == 0;
  // A parking thread is seen here, or has already looked for the last time.
  const bool alone = first && parking_.load(std::memory_order_seq_cst) == 0;
  if (first) SetParked(false);
  return alone;
}

// The last look finds the next due time anew. If several threads park at once, the last one to end
// sets the alarm.
bool Plane::Park() {
  parking_.fetch_add(1, std::memory_order_seq_cst);
  if (awake_.fetch_sub(1, std::memory_order_seq_cst) == 1) {
    due_ns_ = INT64_MAX;
    SetParked(true);
  }
  const bool quiet = Drain() == 0;
  if (!quiet) Wake();
  parking_.fetch_sub(1, std::memory_order_seq_cst);
  if (AllSleep() && due_ns_ != INT64_MAX) alarm_->WakeBy(due_ns_);
  return quiet;
}

bool Plane::ParkAndHear(platform::Poller* ear) {
  if (!Park()) return false;
  if (AllSleep()) bells_.HearBy(ear);
  return true;
}

void Plane::DrainBy(int64_t when_ns) {
  int64_t known_ns = due_ns_;
  while (when_ns < known_ns && !due_ns_.compare_exchange_weak(known_ns, when_ns)) {
  }
  if (AllSleep()) alarm_->WakeBy(when_ns);
}

bool Plane::AllSleep() const {
  return awake_.load(std::memory_order_seq_cst) == 0 &&
         parking_.load(std::memory_order_seq_cst) == 0;
}

void Plane::SetCoresAreLeft(bool cores_are_left) {
  cores_are_left_.store(cores_are_left, std::memory_order_relaxed);
  absl::ReaderMutexLock lock(&mu_);
  for (Pool* pool : pools_) pool->SetCoresAreLeft(cores_are_left);
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
