#include "server/dispatch/plane.h"

namespace mpsd {

size_t Plane::DrainSince(int64_t late_ns) {
  size_t count = 0;
  for (Pool* pool : pools_) {
    if (pool->inside() > 0 || pool->busy()) count += pool->Drain(late_ns);
  }
  return count;
}

void Plane::Wake() {
  if (awake_.fetch_add(1, std::memory_order_seq_cst) == 0) SetParked(false);
}

bool Plane::Park() {
  if (awake_.fetch_sub(1, std::memory_order_seq_cst) == 1) SetParked(true);
  if (Drain() == 0) return true;
  Wake();
  return false;
}

void Plane::Tick() {
  for (Pool* pool : pools_) pool->Tick();
}

int64_t Plane::inside() const {
  int64_t inside = 0;
  for (const Pool* pool : pools_) inside += pool->inside();
  return inside;
}

void Plane::SetParked(bool parked) {
  for (Pool* pool : pools_) pool->SetParked(parked);
}

}  // namespace mpsd
