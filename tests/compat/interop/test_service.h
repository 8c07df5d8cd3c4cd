// TestService: what the methods of grpc.testing.TestService mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/http/calls/method_table.h"
#include "testing.pb.h"

namespace mpsd {

inline constexpr char kTestService[] = "/grpc.testing.TestService/";

// One response of a stream, serialized, and the pause before it.
struct TimedResponse {
  std::string bytes;
  int64_t pause_ns = 0;
};

// Turns requests into responses. Knows nothing of calls, except that the load of out-of-band
// reports outlives the call that set it. Shared by all calls. Thread-safe.
class TestService {
 public:
  // Adds what the door's own tasks can serve: EmptyCall and load reports. `calls_too` adds
  // UnaryCall and FullDuplexCall, which then has one response for each request.
  void AddTo(MethodTable* table, bool calls_too);

  // `load` gets the report that the client asks for; empty if it asks for none.
  static absl::Status Unary(absl::string_view request, bool is_compressed, std::string* response,
                            std::string* load);

  // The responses to one request of StreamingOutputCall, FullDuplexCall or HalfDuplexCall.
  absl::Status Stream(absl::string_view request, std::vector<TimedResponse>* responses)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Adds the request's bytes to `*sum`, which SumOf() makes a response.
  static absl::Status Input(absl::string_view request, bool is_compressed, int64_t* sum);
  static std::string SumOf(int64_t sum);

 private:
  absl::Mutex mu_;
  std::string load_ ABSL_GUARDED_BY(mu_);  // the out-of-band reports'
};

}  // namespace mpsd
