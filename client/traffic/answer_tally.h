// AnswerTally: counts the answers of one pump.
//
// Only this class decides which call counts where:
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

// Checks each answer, and adds it to the counts and histograms. Owned by its pump; lives on the
// pump's thread. The plan and the requests outlive the tally.
class AnswerTally {
 public:
  AnswerTally(const LoadPlan& plan, const std::vector<PreparedRequest>& requests);

  // Counts a request that ended now, with an answer, which is checked, or with an error. It was
  // meant to be sent at `intended_ns`.
  void Count(const Window& window, int64_t now_ns, int64_t intended_ns, uint32_t request,
             grpc::StatusCode code, grpc::ByteBuffer* answer);

  // The same for an answer that its pump has checked.
  void CountChecked(const Window& window, int64_t now_ns, int64_t intended_ns,
                    grpc::StatusCode code, bool right);

  // Counts an answer without a request.
  void CountUnasked() { ++counts_.wrong; }

  // Adds the counts of another thread that has ended, such as the sender.
  void Merge(const LoadCounts& counts) { counts_.Merge(counts); }

  // The counts until now. Called on the pump's thread, or after it has ended.
  const LoadCounts& counts() const { return counts_; }

 private:
  const LoadPlan& plan_;
  LoadCounts counts_;
  AnswerCheck check_;
};

}  // namespace mpsd::traffic
