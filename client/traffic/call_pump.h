// CallPump: the unary calls of one client thread, from the first send to the last answer.
//
//   closed loop   pump's thread:   send all ─▶ answer ─▶ send ─▶ answer ─▶ … ─▶ drain
//
//   open loop     sender:          sleep until due ─▶ take a free call ─▶ send ─▶ …
//                 pump's thread:   answer ─▶ count ─▶ free the call ─▶ …         ─▶ drain
//
// Each call of the window is counted once: answered, failed, or not sent because none was free.
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
#include "client/traffic/answer_tally.h"
#include "client/traffic/due_calls.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_picker.h"
#include "client/traffic/request_set.h"

namespace mpsd::traffic {

// A run allocates nothing. An open loop sends on a second thread, so that waiting answers never
// delay a send. The plan and the requests outlive the pump. Lives on the thread that calls Run().
class CallPump final : public Pump {
 public:
  // At most `call_count` calls are open. The pumps of a run share `tickets`, which may be null:
  // each call of a closed loop takes one, and the loop ends without any.
  CallPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests, uint32_t thread,
           uint32_t call_count, std::atomic<int64_t>* tickets);
  ~CallPump() override;

  void AddChannel(const std::shared_ptr<grpc::Channel>& channel);

  // An open loop if the plan has arrivals, otherwise a closed one.
  void Run(const Window& window) override;
  const LoadCounts& counts() const override { return tally_.counts(); }

 private:
  // A record for one call at a time. Its address is the tag in the completion queue. While `open`,
  // gRPC owes the tag.
  struct Call {
    std::optional<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
    grpc::ByteBuffer answer;
    grpc::Status status;
    uint32_t request = 0;
    int64_t intended_ns = 0;
    std::atomic<bool> open{false};
  };

  void RunClosed(const Window& window);

  // Sends on a thread of its own, until the window's end. A request that is due while all calls are
  // open, or cannot be sent before the end, counts as not sent.
  void RunOpen(const Window& window);

  // REQUIRES: `call` is not open. Only the sending thread calls it.
  void Send(Call* call, uint32_t request, int64_t intended_ns);
  void SendArrivals(const Window& window, DueCalls* due);
  // Null if all calls are open.
  Call* TakeFreeCall();

  // False if all requests are sent.
  bool TakeTicket();

  // Blocks. Null if none came before `deadline_ns`.
  Call* NextAnswer(int64_t deadline_ns);
  void Count(const Window& window, int64_t now_ns, Call* call);
  // Takes late answers. Cancels calls that exceed the drain time.
  void Drain(const Window& window);

  const LoadPlan& plan_;
  const ShownToken token_;
  const std::vector<PreparedRequest>& requests_;
  std::atomic<int64_t>* const tickets_;
  const uint32_t thread_;
  std::vector<grpc::GenericStub> stubs_;
  std::unique_ptr<Call[]> calls_;
  const uint32_t call_count_;
  grpc::CompletionQueue queue_;
  std::atomic<uint32_t> open_count_{0};

  // The sending thread's, which in a closed loop is the pump's own.
  RequestPicker picker_;
  uint32_t next_stub_ = 0;

  AnswerTally tally_;

  absl::Mutex mu_;
  std::vector<Call*> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd::traffic
