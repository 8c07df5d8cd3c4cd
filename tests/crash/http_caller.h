// HttpCaller: a Caller that comes over HTTP.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tests/crash/call_history.h"
#include "tests/crash/call_source.h"
#include "tests/crash/http_infer.h"
#include "tests/crash/http_wire.h"
#include "tests/crash/stall_watch.h"

namespace mpsd::crash {

// A connection for each of the calls that are open, on a thread of its own, kept from call to call.
// Some clients send slowly, some leave before all is sent, and those that cancel leave while they
// wait. A call that its client has left has ended as CANCELLED, as gRPC tells it.
//
// Lives on the thread that calls Run().
class HttpCaller {
 public:
  explicit HttpCaller(const CallerPlan& plan);

  // Calls until `stop` says so, which is asked often, then waits for what is open. Returns the
  // history's report. Called once.
  std::string Run(const std::function<bool()>& stop);

 private:
  // A call, and how its client behaves.
  struct Turn {
    Call call;
    bool is_slow = false;
    bool cuts_request = false;
    int64_t leaves_after_ns = 0;
  };

  void Main();
  Turn Begin() ABSL_LOCKS_EXCLUDED(mu_);
  void End(const Call& call, const CallEnding& ending) ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing where the call has not ended when it should have for long.
  std::optional<CallEnding> Exchange(HttpWire* wire, Turn* turn);
  bool Send(HttpWire* wire, absl::string_view request, Turn* turn);

  const CallerPlan plan_;
  const StallWatch stalls_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> never_ended_{0};

  absl::Mutex mu_;
  CallSource source_ ABSL_GUARDED_BY(mu_);
  CallHistory history_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd::crash
