// WebPump: the calls of one connection of HTTP, one after the other, as a part of a run.
//
//   closed loop   send ─▶ answer ─▶ send ─▶ answer ─▶ …
//   open loop     take the run's next call ─▶ sleep until it is due ─▶ send ─▶ answer ─▶ …
//
// A connection of HTTP/1.1 carries one call at a time. So a closed loop's client is a connection
// with its thread, and an open loop's connections share the calls that become due.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/traffic/answer_tally.h"
#include "client/traffic/due_calls.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_picker.h"
#include "client/traffic/request_set.h"
#include "client/web/http_client.h"

namespace mpsd::bench {

// Calls of an open loop, for all connections of the run. Thread-safe.
class SharedCalls {
 public:
  // REQUIRES: plan.arrivals.IsOpen().
  explicit SharedCalls(traffic::LoadPlan plan);

  // Nothing after the window's last call.
  std::optional<int64_t> Next(const traffic::Window& window);

  // The outcome of Next()'s call. Not sent: the window was over before a connection was free, so no
  // later call is sent either.
  void Sent(int64_t intended_ns, int64_t now_ns);
  void NotSent(int64_t intended_ns);

  // REQUIRES: no outcome is owed.
  traffic::LoadCounts counts() const;

 private:
  const traffic::LoadPlan plan_;  // for one thread, which has all calls
  mutable absl::Mutex mu_;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<traffic::DueCalls> due_ ABSL_GUARDED_BY(mu_);
};

// Owned by a run. Lives on the thread that calls Run(). The referents outlive it.
class WebPump final : public traffic::Pump {
 public:
  // `prepared` and `requests` are the same. `due` is null in a closed loop.
  WebPump(const traffic::LoadPlan& plan, const std::vector<traffic::PreparedRequest>& prepared,
          const std::vector<client::HttpRequest>& requests, uint32_t thread,
          std::unique_ptr<client::HttpClient> http, SharedCalls* due);

  void Run(const traffic::Window& window) override;
  const traffic::LoadCounts& counts() const override { return tally_.counts(); }

 private:
  void Call(const traffic::Window& window, int64_t intended_ns);
  // The reply has as many bytes as the request's first answer.
  bool IsRight(uint32_t request, const client::HttpReply& reply);

  const traffic::LoadPlan& plan_;
  const std::vector<client::HttpRequest>& requests_;
  const std::unique_ptr<client::HttpClient> http_;
  SharedCalls* const due_;
  traffic::RequestPicker picker_;
  traffic::AnswerTally tally_;
  std::vector<std::optional<uint64_t>> first_bytes_;  // by request
};

// INTERNAL if the bytes are no request.
absl::StatusOr<client::HttpRequest> AsHttp(const traffic::PreparedRequest& prepared);

}  // namespace mpsd::bench
