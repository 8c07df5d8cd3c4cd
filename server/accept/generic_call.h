// GenericCall: one armed call of any method in the MethodTable.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "proto/base/thread_role.h"
#include "server/accept/call_gate.h"
#include "server/accept/inflation.h"
#include "server/accept/open_streams.h"
#include "server/accept/queue_tag.h"
#include "server/accept/watchers.h"
#include "server/entry/method_table.h"
#include "server/entry/open_calls.h"
#include "server/inflate/inflater_threads.h"
#include "server/listen/connection_call.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Shared by all generic calls of one completion queue. Constant once the queue's thread runs. The
// referents outlive the calls. Thread-safe.
struct GenericCallContext {
  grpc::AsyncGenericService* service = nullptr;
  grpc::ServerCompletionQueue* queue = nullptr;
  const ThreadRole* thread = nullptr;  // the queue's
  const MethodTable* methods = nullptr;
  ServerMetrics* metrics = nullptr;
  OpenStreams* streams = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // true: end watched calls and conversations
  std::atomic<int>* live_calls = nullptr;       // armed or open
  OpenCalls* open_calls = nullptr;
  const CallGate* gate = nullptr;
  InflaterThreads* inflaters = nullptr;
  Watchers* watchers = nullptr;  // the queue's
};

// Carries a method's request to the MethodTable and the response back. Lives on its queue's thread,
// except EndSoon() and a deferred method's answer, which come from any thread. Owns itself: the
// last tag deletes it. A call is used once.
//
//   Arrived → Read → (Inflated) → the method → Finished                 a unary method
//                                            → Answered → Finished      a deferred method
//                                            → Written → Woken → …      a watched method
//                                            → Written → Read → …       a conversation
//
// Invariants:
//   1. Arrived(true) arms another call in place of this one, so that a call whose message never
//      comes blocks no other. It promises Finished and Done, in either order. Arrived(false) means
//      that the server shuts down, and promises no further tag.
//   2. Besides Done, at most one tag is out, and none while a deferred answer is awaited.
//   3. Done comes when the call is over or cancelled.
class GenericCall final : public OpenStream {
 public:
  // The largest request message; larger ones are refused as RESOURCE_EXHAUSTED. Once parsed, a
  // request may take 80 times its bytes (many small fields, nested JSON). The largest useful one is
  // a model's config.
  static constexpr size_t kMaxRequestBytes = 256 << 10;

  explicit GenericCall(const GenericCallContext* context);

  // Asks gRPC for the next call and returns at once; Arrived() follows. Called once, after `new`.
  void Arm();

  void EndSoon() override { rpc_.server.TryCancel(); }

 private:
  ~GenericCall() override;

  // The tags.
  void Arrived(bool ok);
  void Read(bool ok);
  void Inflated(bool ok);
  void Written(bool ok);
  void Woken(bool ok);
  void Answered(bool ok);
  void Finished(bool ok);
  void Done(bool ok);

  void Enter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Serve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  absl::Status CheckModel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  CallerInfo Caller();
  void Answer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void AnswerOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Defer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Respond(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Watch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Finish(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void TagBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  struct Rpc {
    Rpc() : stream(&server) {}

    grpc::GenericServerContext server;
    grpc::GenericServerAsyncReaderWriter stream;
    grpc::ByteBuffer bytes;
    grpc::Alarm answer_alarm;  // set by the thread with a deferred answer
  };

  const GenericCallContext* const context_;
  const ThreadRole* const thread_;
  MemberTag<GenericCall, &GenericCall::Arrived> arrived_{this};
  MemberTag<GenericCall, &GenericCall::Read> read_{this};
  MemberTag<GenericCall, &GenericCall::Inflated> inflated_{this};
  MemberTag<GenericCall, &GenericCall::Written> written_{this};
  MemberTag<GenericCall, &GenericCall::Woken> woken_{this};
  MemberTag<GenericCall, &GenericCall::Answered> answered_{this};
  MemberTag<GenericCall, &GenericCall::Finished> finished_{this};
  MemberTag<GenericCall, &GenericCall::Done> done_{this};

  Rpc rpc_;

  const MethodTable::Method* method_ ABSL_GUARDED_BY(thread_) = nullptr;
  const MethodAccess* access_ ABSL_GUARDED_BY(thread_) = nullptr;
  Grant grant_ ABSL_GUARDED_BY(thread_);
  ConnectionCall connection_ ABSL_GUARDED_BY(thread_);
  OpenCalls::Place place_ ABSL_GUARDED_BY(thread_);
  Inflation inflation_ ABSL_GUARDED_BY(thread_);
  std::string request_ ABSL_GUARDED_BY(thread_);
  bool over_ ABSL_GUARDED_BY(thread_) = false;   // Done has come, or nothing can be written
  bool lasts_ ABSL_GUARDED_BY(thread_) = false;  // ends when the server stops
  bool finishing_ ABSL_GUARDED_BY(thread_) = false;
  int tags_out_ ABSL_GUARDED_BY(thread_) = 0;  // how many of Finished and Done

  // Written by the queue's thread, or by the thread with a deferred answer while the queue's thread
  // awaits it.
  std::string last_response_;
  absl::Status deferred_status_;
};

}  // namespace mpsd
