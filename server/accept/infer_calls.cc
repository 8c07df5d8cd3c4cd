#include "server/accept/infer_calls.h"

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

// As many as wait armed, so that a burst of that size finds all its calls made.
constexpr size_t kMaxSpare = kArmedInferCalls;

}  // namespace

InferCalls::~InferCalls() { MPSD_CHECK(open_.empty()); }

void InferCalls::Arm() {
  context_->live_calls->fetch_add(1, std::memory_order_relaxed);
  if (spare_.empty()) spare_.push_back(std::make_unique<InferCall>(context_, this));
  InferCall* const call = spare_.back().release();
  spare_.pop_back();
  call->Arm();
}

void InferCalls::Arrived(InferCall* call, int64_t cancel_at_ns) {
  open_.emplace(call, cancel_at_ns);
}

void InferCalls::Over(InferCall* call) {
  std::unique_ptr<InferCall> over(call);
  MPSD_CHECK(open_.erase(call) == 1);
  if (spare_.size() < kMaxSpare) spare_.push_back(std::move(over));
  context_->live_calls->fetch_sub(1, std::memory_order_release);
}

void InferCalls::Gone(InferCall* call) {
  delete call;
  context_->live_calls->fetch_sub(1, std::memory_order_release);
}

void InferCalls::CancelUntaken(int64_t now_ns) {
  if (now_ns - looked_ns_ < kLookEveryNs) return;
  looked_ns_ = now_ns;
  for (auto& [call, cancel_at_ns] : open_) {
    if (now_ns < cancel_at_ns) continue;
    cancel_at_ns = INT64_MAX;
    call->Cancel();
    context_->exchange.metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace mpsd
