#include "server/accept/queue_thread.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

namespace mpsd {

namespace {

// Several events between two drains: while the first of a burst of requests runs, the others form
// one batch, and a drain takes several completions at once. Only a few, because a lane idles while
// its completion waits for the drain.
constexpr uint32_t kEventsBetweenDrains = 16;

}  // namespace

QueueThread::QueueThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, InferCallContext infer,
                         GenericCallContext generic, CompletionSource* completions)
    : queue_(std::move(queue)), infer_(infer), generic_(generic), completions_(completions) {
  infer_.queue = queue_.get();
  infer_.exchange.thread = &role_;
  generic_.queue = queue_.get();
  generic_.thread = &role_;
  generic_.watchers = &watchers_;
}

void QueueThread::Start(int index) {
  for (uint32_t i = 0; i < kArmedInferCalls; ++i) infer_calls_.Arm();
  for (uint32_t i = 0; i < kArmedStreamCalls; ++i) (new StreamCall(&infer_))->Arm();
  for (uint32_t i = 0; i < kArmedGenericCalls; ++i) (new GenericCall(&generic_))->Arm();
  thread_ = std::thread([this, index] {
    platform::NameThread(absl::StrCat("grpc-", index).c_str());
    Main();
  });
}

void QueueThread::Shutdown() {
  MPSD_CHECK(infer_.live_calls->load(std::memory_order_acquire) == 0);
  queue_->Shutdown();
}

grpc::CompletionQueue::NextStatus QueueThread::Sleep(void** tag, bool* ok) {
  if (!infer_calls_.any_open() && !infer_.streams->any())
    return queue_->AsyncNext(tag, ok, gpr_inf_future(GPR_CLOCK_REALTIME));
  const gpr_timespec look = gpr_time_from_nanos(InferCalls::kLookEveryNs, GPR_TIMESPAN);
  return queue_->AsyncNext(tag, ok, gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), look));
}

void QueueThread::Main() {
  role_.Bind();
  void* tag = nullptr;
  bool ok = false;
  completions_->Wake();
  for (;;) {
    auto status = grpc::CompletionQueue::GOT_EVENT;
    uint32_t events = 0;
    while (events < kEventsBetweenDrains) {
      status = queue_->AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
      if (status != grpc::CompletionQueue::GOT_EVENT) break;
      static_cast<QueueTag*>(tag)->Proceed(ok);
      ++events;
    }
    if (status == grpc::CompletionQueue::SHUTDOWN) break;
    const int64_t now_ns = infer_.exchange.clock->NowNs();
    infer_calls_.CancelUntaken(now_ns);
    infer_.streams->CutUntaken(now_ns);
    if (completions_->Drain() > 0 || events > 0) continue;
    if (!completions_->Park()) continue;
    status = Sleep(&tag, &ok);
    completions_->Wake();
    if (status == grpc::CompletionQueue::SHUTDOWN) break;
    if (status == grpc::CompletionQueue::GOT_EVENT) static_cast<QueueTag*>(tag)->Proceed(ok);
  }
  role_.Unbind();
  // When all queue threads are parked, the workers ring for the completion thread.
  while (!completions_->Park()) {
  }
}

}  // namespace mpsd
