// AnswerTally: counts the answers of one pump.
//
//   Ends inside the window:              throughput, CPU a call; right and within the SLO: goodput.
//   Closed loop, ends inside:            latency.
//   Open loop, was due inside:           latency, however late the answer comes.
//   An error, or a wrong answer:         counted whenever it comes, also in warm-up and drain.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <vector>

#include "client/traffic/answer_check.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"
#include "client/traffic/request_set.h"

namespace mpsd::traffic {

// Lives on the pump's thread. The plan and the requests outlive the tally.
class AnswerTally {
 public:
  AnswerTally(const LoadPlan& plan, const std::vector<PreparedRequest>& requests);

  // A request ended now, with an answer, which is checked, or with an error. It was due at
  // `intended_ns`.
  void Count(const Window& window, int64_t now_ns, int64_t intended_ns, uint32_t request,
             grpc::StatusCode code, grpc::ByteBuffer* answer);

  // The pump has checked the answer.
  void CountChecked(const Window& window, int64_t now_ns, int64_t intended_ns,
                    grpc::StatusCode code, bool right);

  // An answer without a request.
  void CountUnasked() { ++counts_.wrong; }

  // Another thread's, which has ended.
  void Merge(const LoadCounts& counts) { counts_.Merge(counts); }

  // Called on the pump's thread, or after it has ended.
  const LoadCounts& counts() const { return counts_; }

 private:
  const LoadPlan& plan_;
  LoadCounts counts_;
  AnswerCheck check_;
};

}  // namespace mpsd::traffic
