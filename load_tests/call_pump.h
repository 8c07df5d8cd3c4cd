// CallPump: one client thread's calls, from the first send to the last answer.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "load_tests/answer_tally.h"
#include "load_tests/arrivals.h"
#include "load_tests/load_plan.h"
#include "load_tests/pump.h"
#include "load_tests/request_set.h"
#include "load_tests/shown_token.h"

namespace mpsd::load {

// Lives on the thread that calls Run(). The plan and the requests are the caller's and outlive it.
// Calls are kept in slots made at construction; none is added later.
class CallPump final : public Pump {
 public:
  // `slot_count` calls at most are open at once. `tickets`, if any, is shared among the pumps of a
  // run; each call that a closed loop sends takes one.
  CallPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests, uint32_t slot_count,
           std::atomic<int64_t>* tickets, uint64_t seed);
  ~CallPump() override;

  void AddChannel(const std::shared_ptr<grpc::Channel>& channel);

  // A closed loop, or an open one where the plan has a rate.
  void Run(const Window& window) override;
  const LoadCounts& counts() const override { return tally_.counts(); }

 private:
  struct Slot {
    std::optional<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
    grpc::ByteBuffer answer;
    grpc::Status status;
    uint32_t request = 0;
    int64_t intended_ns = 0;
    std::atomic<bool> open{false};
  };

  // Keeps every slot busy until the window's end; each answer sends the next request.
  void RunClosed(const Window& window);

  // Sends at the arrival times, on a thread of its own, from now to the window's end. What is due
  // while every slot is open, or is too much to be sent by the end, is counted as not sent.
  void RunOpen(const Window& window, double rate);

  void Send(Slot* slot, uint32_t request, int64_t intended_ns);
  void SendArrivals(const Window& window, double rate);
  Slot* TakeFreeSlot();
  bool TakeTicket();
  // Takes the next answer; null when none came until `deadline_ns`.
  Slot* NextAnswer(int64_t deadline_ns);
  void Count(const Window& window, int64_t now_ns, Slot* slot);
  // Takes what is still open after the end; cancels it when it outstays the drain time.
  void Drain(const Window& window);
  uint32_t PickRequest() { return static_cast<uint32_t>(picks_() % requests_.size()); }

  const LoadPlan& plan_;
  const ShownToken token_;
  const std::vector<PreparedRequest>& requests_;
  std::atomic<int64_t>* const tickets_;
  const uint64_t seed_;
  std::vector<grpc::GenericStub> stubs_;
  std::unique_ptr<Slot[]> slots_;
  const uint32_t slot_count_;
  grpc::CompletionQueue queue_;
  std::atomic<uint32_t> open_count_{0};

  // Owned by the sending thread: in a closed loop the pump's own.
  std::mt19937_64 picks_;
  uint32_t next_stub_ = 0;
  LoadCounts sent_;

  // Owned by the pump's thread.
  AnswerTally tally_;

  absl::Mutex mu_;
  std::vector<Slot*> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd::load
