// TestCall: one call of grpc.testing.TestService over the door's codec of gRPC.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"
#include "proto/base/task_threads.h"
#include "server/door/grpc_messages.h"
#include "server/door/message_inflation.h"
#include "server/door/route/body_coding.h"
#include "server/http/http_call.h"
#include "test_service.h"

namespace mpsd {

class TestCall;

enum class TestMethod { kUnary, kInput, kOutput, kFullDuplex, kHalfDuplex };

// All calls of a thread share these. The referents outlive the calls.
struct TestCalls {
  TestService* service = nullptr;
  const Clock* clock = nullptr;
  TaskThreads* inflaters = nullptr;
  InflateBounds inflate_bounds;
  std::vector<TestCall*> sleeping;  // whose next response has a pause before it
};

// Reads the call's messages, has the TestService answer each, and writes the responses: one is out
// at a time, and the next message is read when none is left. HalfDuplexCall reads all messages
// first. Lives on its connection's thread. Owns itself.
class TestCall final : public HttpTask {
 public:
  TestCall(TestCalls* calls, HttpCall* call, TestMethod method, BodyCoding coding, int64_t end_ns);

  // HttpTask.
  void BodyGrew() override { Proceed(); }
  void Serve(BodyEnd body) override;
  void Resumed() override;
  void ClientLeft() override { End(absl::DeadlineExceededError("Deadline Exceeded")); }
  void EndSoon() override { End(absl::UnavailableError("Server exiting")); }
  void PartTaken(bool taken) override;
  void Over() override;

  // Its pause may be over.
  void Proceed();

 private:
  ~TestCall() = default;

  bool has_one_response() const;
  bool ReadOne();
  void Take(absl::string_view message, bool is_compressed);
  void EndOfBody();
  void SendNext();
  void End(const absl::Status& status);
  void ReplyIfOver();

  TestCalls* const calls_;
  HttpCall* const call_;
  const TestMethod method_;
  GrpcMessages messages_;
  MessageInflation inflation_;
  const BodyCoding coding_;
  GrpcPiece compressed_;  // while it is inflated
  std::deque<TimedResponse> outbox_;
  std::string response_;  // the only one of a call that is not a stream
  int64_t sum_ = 0;
  int64_t due_ns_ = 0;  // when the next of `outbox_` may go; 0: its pause has not begun
  size_t messages_taken_ = 0;
  bool inflates_ = false;
  bool body_ended_ = false;
  bool part_out_ = false;
  bool has_parts_ = false;
  bool is_over_ = false;  // `ending_` is known
  bool has_replied_ = false;
  absl::Status ending_;
};

}  // namespace mpsd
