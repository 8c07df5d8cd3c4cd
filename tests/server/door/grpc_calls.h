// Calls of gRPC with many messages, as a connection of HTTP/2 brings them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/door/grpc_form.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {

// A message as it lies in a body.
inline std::string InGrpcForm(absl::string_view message) {
  std::string body = absl::StrCat(GrpcBody(), message);
  EndGrpcMessage(&body);
  return body;
}

inline std::string InferBytes(const std::string& model, const std::string& id = "",
                              bool final_flag = false) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  request.set_id(id);
  if (final_flag) {
    (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  }
  return request.SerializeAsString();
}

// One call at a time. Its client takes no part before the test asks for the next message. Lives on
// the test's thread.
class GrpcCallsTest : public HttpDoorTest {
 protected:
  // Null if the call was refused.
  HttpTask* Open(const std::string& method, const std::string& headers = "") {
    call_ = std::make_unique<FakeHttpCall>(
        absl::StrCat("POST ", method), absl::StrCat("content-type: application/grpc\r\n", headers),
        "");
    call_->speaks_http2 = true;
    task_ = door_->Arrived(call_.get());
    taken_parts_ = 0;
    resumed_ = 0;
    messages_.clear();
    return task_;
  }

  void SendBytes(absl::string_view bytes) {
    call_->AddPiece(bytes);
    task_->BodyGrew();
  }
  void Send(absl::string_view message) { SendBytes(InGrpcForm(message)); }

  // Whether the client could take another message.
  bool HasNext() const { return !messages_.empty() || taken_parts_ < call_->parts.size(); }

  // The next message; has the client take its part.
  std::string Next() {
    if (messages_.empty()) {
      EXPECT_LT(taken_parts_, call_->parts.size());
      if (taken_parts_ >= call_->parts.size()) return "";
      absl::string_view body = call_->parts[taken_parts_++].body;
      while (!body.empty()) {
        const size_t length = GrpcLength(body);
        messages_.emplace_back(body.substr(kGrpcPrefixBytes, length));
        body.remove_prefix(kGrpcPrefixBytes + length);
      }
      task_->PartTaken(true);
    }
    const std::string next = messages_.front();
    messages_.pop_front();
    return next;
  }

  // Runs what was to come back to the call's thread.
  void PumpResumed() {
    while (resumed_ < call_->resumes) {
      ++resumed_;
      task_->Resumed();
    }
  }
  // Something is on its way back, and does not arrive before PumpResumed().
  void AwaitInflation() { call_->resumed.acquire(); }
  void AwaitResumed() {
    AwaitInflation();
    ++resumed_;
    task_->Resumed();
  }

  bool is_over() const { return call_->reply.has_value(); }

  // The status line of the ended call, wherever it is.
  std::string Status() const {
    if (!is_over()) return "not over";
    const HttpReply& reply = *call_->reply;
    return call_->parts.empty() ? reply.headers : reply.trailers;
  }

  // The call has ended: its task goes.
  void Over(const std::string& status) {
    EXPECT_TRUE(absl::StrContains(Status(), status)) << Status();
    if (is_over()) std::exchange(task_, nullptr)->Over();
  }

  void CloseAndEnd() {
    task_->Serve(BodyEnd::kWhole);
    EXPECT_FALSE(HasNext());
    Over("grpc-status: 0\r\n");
  }

  HttpTask* task_ = nullptr;

 private:
  size_t taken_parts_ = 0;
  int resumed_ = 0;
  std::deque<std::string> messages_;
};

}  // namespace mpsd
