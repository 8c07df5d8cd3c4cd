#include "load_tests/call_pump.h"

#include <chrono>
#include <thread>
#include <utility>

#include "load_tests/pump_clock.h"
#include "proto/base/check.h"

namespace mpsd::load {
namespace {

void SleepUntil(int64_t ns) {
  const int64_t left_ns = ns - NowNs();
  if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
}

}  // namespace

CallPump::CallPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests,
                   uint32_t slot_count, std::atomic<int64_t>* tickets, uint64_t seed)
    : plan_(plan),
      token_(plan.token),
      requests_(requests),
      tickets_(tickets),
      seed_(seed),
      slots_(std::make_unique<Slot[]>(slot_count)),
      slot_count_(slot_count),
      picks_(seed),
      tally_(plan, requests) {
  free_.reserve(slot_count);
  for (uint32_t i = 0; i < slot_count; ++i) free_.push_back(&slots_[i]);
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

void CallPump::Send(Slot* slot, uint32_t request, int64_t intended_ns) {
  slot->reader.reset();  // it lies in the memory of the call that the context holds
  slot->context.emplace();
  slot->answer.Clear();
  slot->request = request;
  slot->intended_ns = intended_ns;
  token_.AddTo(&*slot->context);
  if (plan_.deadline_ns > 0) slot->context->set_deadline(MonotonicTime(plan_.deadline_ns));
  next_stub_ = next_stub_ + 1 < stubs_.size() ? next_stub_ + 1 : 0;
  slot->reader = stubs_[next_stub_].PrepareUnaryCall(&*slot->context, plan_.method,
                                                     requests_[request].bytes, &queue_);
  slot->open.store(true, std::memory_order_release);
  open_count_.fetch_add(1, std::memory_order_relaxed);
  slot->reader->StartCall();
  slot->reader->Finish(&slot->answer, &slot->status, slot);
}

bool CallPump::TakeTicket() {
  return tickets_ == nullptr || tickets_->fetch_sub(1, std::memory_order_relaxed) > 0;
}

CallPump::Slot* CallPump::NextAnswer(int64_t deadline_ns) {
  void* tag = nullptr;
  bool ok = false;
  const auto event = queue_.AsyncNext(&tag, &ok, MonotonicTime(deadline_ns - NowNs()));
  if (event != grpc::CompletionQueue::GOT_EVENT) return nullptr;
  auto* slot = static_cast<Slot*>(tag);
  slot->open.store(false, std::memory_order_relaxed);
  open_count_.fetch_sub(1, std::memory_order_relaxed);
  return slot;
}

void CallPump::Count(const Window& window, int64_t now_ns, Slot* slot) {
  tally_.Count(window, now_ns, slot->intended_ns, slot->request, slot->status.error_code(),
               &slot->answer);
}

void CallPump::Run(const Window& window) {
  if (plan_.rate > 0) {
    RunOpen(window, plan_.rate / plan_.threads);
  } else {
    RunClosed(window);
  }
}

void CallPump::RunClosed(const Window& window) {
  MPSD_CHECK(!stubs_.empty());
  for (uint32_t i = 0; i < slot_count_ && TakeTicket(); ++i) {
    Send(&slots_[i], PickRequest(), NowNs());
  }
  while (open_count_.load(std::memory_order_relaxed) > 0) {
    Slot* slot = NextAnswer(window.end_ns);
    const int64_t now_ns = NowNs();
    if (slot != nullptr) Count(window, now_ns, slot);
    if (now_ns >= window.end_ns) break;
    if (slot != nullptr && TakeTicket()) Send(slot, PickRequest(), now_ns);
  }
  Drain(window);
}

CallPump::Slot* CallPump::TakeFreeSlot() {
  absl::MutexLock lock(&mu_);
  if (free_.empty()) return nullptr;
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

void CallPump::SendArrivals(const Window& window, double rate) {
  Arrivals arrivals(rate, plan_.burst, seed_);
  const int64_t start_ns = NowNs();
  for (;;) {
    const int64_t intended_ns = start_ns + arrivals.NextNs();
    if (intended_ns >= window.end_ns) return;
    SleepUntil(intended_ns);
    const bool counts = window.Holds(intended_ns);
    if (counts) ++sent_.intended;
    const int64_t now_ns = NowNs();
    Slot* slot = now_ns < window.end_ns ? TakeFreeSlot() : nullptr;
    if (slot == nullptr) {
      if (counts) ++sent_.not_sent;
      continue;
    }
    if (counts) sent_.lateness.Record(now_ns - intended_ns);
    Send(slot, PickRequest(), intended_ns);
  }
}

void CallPump::RunOpen(const Window& window, double rate) {
  MPSD_CHECK(!stubs_.empty());
  std::atomic<bool> all_sent{false};
  std::thread sender([&] {
    SendArrivals(window, rate);
    all_sent.store(true);
  });
  while (!all_sent.load()) {
    Slot* slot = NextAnswer(NowNs() + kPollNs);
    if (slot == nullptr) continue;
    Count(window, NowNs(), slot);
    absl::MutexLock lock(&mu_);
    free_.push_back(slot);
  }
  sender.join();
  tally_.Merge(sent_);
  Drain(window);
}

void CallPump::Drain(const Window& window) {
  const int64_t patience_ns = NowNs() + plan_.drain_ns;
  bool cancelled = false;
  while (open_count_.load(std::memory_order_relaxed) > 0) {
    if (!cancelled && NowNs() >= patience_ns) {
      cancelled = true;
      for (uint32_t i = 0; i < slot_count_; ++i) {
        if (slots_[i].open.load(std::memory_order_acquire)) slots_[i].context->TryCancel();
      }
    }
    if (Slot* slot = NextAnswer(NowNs() + kPollNs)) Count(window, NowNs(), slot);
  }
}

}  // namespace mpsd::load
