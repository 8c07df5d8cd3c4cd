// CallHistory: what became of each call of a load, and whether that may be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grpcpp/support/status.h"
#include "proto/inference.pb.h"

namespace mpsd::crash {

// One call. The payload follows from the id alone, so no two calls have the same bytes.
struct Call {
  uint64_t id = 0;
  uint32_t rows = 1;
  int64_t sent_ns = 0;
  int64_t timeout_ns = 0;         // by which the server must have ended it
  int64_t stalled_before_ns = 0;  // a StallWatch's sum when it was sent
  bool cancelled = false;         // by us
  bool poisoned = false;          // its first element is what the model dies of
  bool in_json = false;           // its numbers are finite, as those of JSON are
};

// The numbers in the rows of a call, and how often they come back.
struct PayloadPlan {
  uint32_t width = 16;   // elements of a row, FP32
  float first = 1;       // the first element of each row
  float poison = 666;    // …and of a poisoned call's
  uint32_t outputs = 1;  // an answer's outputs, each with the bytes of the input
};

// The raw contents of the call's only input.
std::string Payload(const PayloadPlan& plan, const Call& call);

// Thread-compatible. Told of each call once when it is sent and once when it has ended.
class CallHistory {
 public:
  explicit CallHistory(const PayloadPlan& plan) : plan_(plan) {}

  void Sent() { ++sent_; }
  // `now_ns` less what the host kept everybody waiting meanwhile.
  void Ended(const Call& call, const grpc::Status& status,
             const inference::ModelInferResponse& response, int64_t now_ns);

  // The counts and what is wrong, as one JSON object. `open` calls never ended.
  std::string Report(uint64_t open) const;

 private:
  void CheckAnswer(const Call& call, const inference::ModelInferResponse& response);
  void Complain(const Call& call, const std::string& what);

  const PayloadPlan plan_;
  uint64_t sent_ = 0;
  uint64_t ended_ = 0;
  uint64_t poisoned_answered_ = 0;
  int64_t overdue_ns_ = 0;                   // the latest ending after its call's time was up
  std::map<std::string, uint64_t> endings_;  // by code and text
  uint64_t wrong_ = 0;
  std::vector<std::string> complaints_;  // the first few of them
};

}  // namespace mpsd::crash
