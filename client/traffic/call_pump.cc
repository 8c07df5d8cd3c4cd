#include "client/traffic/call_pump.h"

#include <chrono>
#include <thread>
#include <utility>

#include "client/traffic/pump.h"
#include "proto/base/check.h"

namespace mpsd::traffic {
namespace {

void SleepUntil(int64_t ns) {
  const int64_t left_ns = ns - NowNs();
  if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
}

}  // namespace

CallPump::CallPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests,
                   uint32_t thread, uint32_t call_count, std::atomic<int64_t>* tickets)
    : plan_(plan),
      token_(plan.connection.token),
      requests_(requests),
      tickets_(tickets),
      thread_(thread),
      calls_(std::make_unique<Call[]>(call_count)),
      call_count_(call_count),
      picker_(requests, plan.seed + 1 + thread),  // another seed than for the times
      tally_(plan, requests) {
  free_.reserve(call_count);
  for (uint32_t i = 0; i < call_count; ++i) free_.push_back(&calls_[i]);
}

CallPump::~CallPump() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void CallPump::AddChannel(const std::shared_ptr<grpc::Channel>& channel) {
  stubs_.emplace_back(channel);
}

void CallPump::Send(Call* call, uint32_t request, int64_t intended_ns) {
  call->reader.reset();  // its memory belongs to the context's call
  call->context.emplace();
  call->answer.Clear();
  call->request = request;
  call->intended_ns = intended_ns;
  token_.AddTo(&*call->context);
  if (plan_.deadline_ns > 0) call->context->set_deadline(MonotonicTime(plan_.deadline_ns));
  next_stub_ = next_stub_ + 1 < stubs_.size() ? next_stub_ + 1 : 0;
  call->reader = stubs_[next_stub_].PrepareUnaryCall(&*call->context, plan_.method,
                                                     requests_[request].bytes, &queue_);
  call->open.store(true, std::memory_order_release);
  open_count_.fetch_add(1, std::memory_order_relaxed);
  call->reader->StartCall();
  call->reader->Finish(&call->answer, &call->status, call);
}

bool CallPump::TakeTicket() {
  return tickets_ == nullptr || tickets_->fetch_sub(1, std::memory_order_relaxed) > 0;
}

CallPump::Call* CallPump::NextAnswer(int64_t deadline_ns) {
  void* tag = nullptr;
  bool ok = false;
  const auto event = queue_.AsyncNext(&tag, &ok, MonotonicTime(deadline_ns - NowNs()));
  if (event != grpc::CompletionQueue::GOT_EVENT) return nullptr;
  auto* call = static_cast<Call*>(tag);
  call->open.store(false, std::memory_order_relaxed);
  open_count_.fetch_sub(1, std::memory_order_relaxed);
  return call;
}

void CallPump::Count(const Window& window, int64_t now_ns, Call* call) {
  tally_.Count(window, now_ns, call->intended_ns, call->request, call->status.error_code(),
               &call->answer);
}

void CallPump::Run(const Window& window) {
  if (plan_.arrivals.IsOpen()) {
    RunOpen(window);
  } else {
    RunClosed(window);
  }
}

void CallPump::RunClosed(const Window& window) {
  MPSD_CHECK(!stubs_.empty());
  for (uint32_t i = 0; i < call_count_ && TakeTicket(); ++i) {
    Send(&calls_[i], picker_.Next(), NowNs());
  }
  while (open_count_.load(std::memory_order_relaxed) > 0) {
    Call* call = NextAnswer(window.end_ns);
    const int64_t now_ns = NowNs();
    if (call != nullptr) Count(window, now_ns, call);
    if (now_ns >= window.end_ns) break;
    if (call != nullptr && TakeTicket()) Send(call, picker_.Next(), now_ns);
  }
  Drain(window);
}

CallPump::Call* CallPump::TakeFreeCall() {
  absl::MutexLock lock(&mu_);
  if (free_.empty()) return nullptr;
  Call* call = free_.back();
  free_.pop_back();
  return call;
}

void CallPump::SendArrivals(const Window& window, DueCalls* due) {
  while (const std::optional<int64_t> intended_ns = due->Next()) {
    SleepUntil(*intended_ns);
    const int64_t now_ns = NowNs();
    if (now_ns >= window.end_ns) return due->NotSentFrom(*intended_ns);
    Call* call = TakeFreeCall();
    if (call == nullptr) {
      due->NotSent(*intended_ns);
      continue;
    }
    due->Sent(*intended_ns, now_ns);
    Send(call, picker_.Next(), *intended_ns);
  }
}

void CallPump::RunOpen(const Window& window) {
  MPSD_CHECK(!stubs_.empty());
  DueCalls due(plan_, window, thread_);
  std::atomic<bool> all_sent{false};
  std::thread sender([&] {
    SendArrivals(window, &due);
    all_sent.store(true);
  });
  while (!all_sent.load()) {
    Call* call = NextAnswer(NowNs() + kPollNs);
    if (call == nullptr) continue;
    Count(window, NowNs(), call);
    absl::MutexLock lock(&mu_);
    free_.push_back(call);
  }
  sender.join();
  tally_.Merge(due.counts());
  Drain(window);
}

void CallPump::Drain(const Window& window) {
  const int64_t patience_ns = NowNs() + plan_.drain_ns;
  bool cancelled = false;
  while (open_count_.load(std::memory_order_relaxed) > 0) {
    if (!cancelled && NowNs() >= patience_ns) {
      cancelled = true;
      for (uint32_t i = 0; i < call_count_; ++i) {
        if (calls_[i].open.load(std::memory_order_acquire)) calls_[i].context->TryCancel();
      }
    }
    if (Call* call = NextAnswer(NowNs() + kPollNs)) Count(window, NowNs(), call);
  }
}

}  // namespace mpsd::traffic
