// GrpcLastingTask: one call of gRPC to a watched method or a conversation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/thread_role.h"
#include "server/door/door_context.h"
#include "server/door/grpc_messages.h"
#include "server/door/grpc_method_task.h"
#include "server/door/message_inflation.h"
#include "server/door/method_watchers.h"
#include "server/http/http_call.h"

namespace mpsd {

// Lasts until a side ends it. Made for a call that has passed the gate.
//
//   a watched method   the first message is the request. Its response is sent at once, and again
//                      whenever it differs. A periodic method's is sent again after each pause
//   a conversation     each message gets a response, in order. The next one is read once the
//                      client has taken the response to the one before
//
// The model that a request names passes the gate here. An error of the method ends the call. A stop
// of the server ends it with UNAVAILABLE.
//
// Lives on its connection's thread. Owns itself.
class GrpcLastingTask final : public HttpTask, public MethodWatcher {
 public:
  using Entry = GrpcMethodTask::Entry;

  // The context outlives the task.
  GrpcLastingTask(const DoorContext* context, HttpCall* call, Entry entry);

  // HttpTask.
  void BodyGrew() override { ReadOn(); }
  void Serve(BodyEnd body) override;
  void Resumed() override;
  void ClientLeft() override;
  void EndSoon() override;
  void PartTaken(bool taken) override;
  void Over() override;

  // MethodWatcher.
  void Woken() override { Watch(); }

 private:
  ~GrpcLastingTask() = default;

  bool is_watched() const { return entry_.method->kind == MethodTable::Kind::kWatched; }
  bool is_periodic() const { return entry_.method->pause != nullptr; }
  void ReadOn();
  void EndOfBody();
  void TakeMessage(GrpcPiece message);
  void Ask(std::string request);
  void Watch();
  void WatchTime();
  absl::Status Respond(std::string* response);
  void Send(absl::string_view response);
  void End(const absl::Status& status);
  void ReplyIfOver();

  const DoorContext* const context_;
  const ThreadRole* const thread_;
  HttpCall* const call_;
  Entry entry_;
  GrpcMessages messages_;
  MessageInflation inflation_;
  GrpcPiece compressed_;       // while it is inflated
  std::string request_;        // the latest
  std::string last_response_;  // to a watched method
  int64_t pause_ns_ = 0;       // between periodic responses
  int64_t next_ns_ = 0;        // when the next periodic response is due
  bool body_ended_ = false;
  bool has_request_ = false;
  bool inflates_ = false;
  bool part_out_ = false;
  bool has_parts_ = false;
  bool is_over_ = false;  // `ending_` is known
  bool has_replied_ = false;
  absl::Status ending_;
};

}  // namespace mpsd
