// GenericCall: one armed call of any method that the MethodTable knows.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <string>

#include "server/accept/call_gate.h"
#include "server/accept/inflation.h"
#include "server/accept/method_table.h"
#include "server/accept/open_streams.h"
#include "server/accept/queue_tag.h"
#include "server/inflate/inflater_threads.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// What all generic calls of a queue share.
struct GenericCallContext {
  grpc::AsyncGenericService* service = nullptr;
  grpc::ServerCompletionQueue* queue = nullptr;
  const MethodTable* methods = nullptr;
  ServerMetrics* metrics = nullptr;
  OpenStreams* streams = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // watched calls end
  std::atomic<int>* live_calls = nullptr;
  const CallGate* gate = nullptr;
  InflaterThreads* inflaters = nullptr;
};

// Lives on its queue's thread, but for EndSoon(); deletes itself when its last tag is back.
//
// The life of a call: Arrived(true), which arms another call in this one's place, so that one whose
// message never comes keeps nobody from arriving → Read → the method → Written, once or, for a
// watched method, again and again with Woken between, for a conversation with Read between
// → Finished. A Read of a compressed message is followed by Inflated. A deferred method is followed
// by Answered instead, once its answer was given from whatever thread. Done comes when the call is
// over or cancelled, in any order with the others; it never comes for a call that did not arrive.
// At most one of Read, Inflated, Written, Woken, Answered and Finished is out at a time, or the
// answer is awaited.
class GenericCall final : public OpenStream {
 public:
  explicit GenericCall(const GenericCallContext* context) : context_(context) {
    context_->live_calls->fetch_add(1, std::memory_order_relaxed);
  }
  ~GenericCall() override { context_->live_calls->fetch_sub(1, std::memory_order_release); }

  void Arm();
  void EndSoon() override { rpc_.server.TryCancel(); }

 private:
  void Arrived(bool ok);
  void Read(bool ok);
  void Inflated(bool ok);
  void Written(bool ok);
  void Woken(bool ok);
  void Answered(bool ok);
  void Finished(bool ok);
  void Done(bool ok);

  void Serve();
  absl::Status CheckModel();
  CallerInfo Caller();
  void Answer();
  void AnswerOne();
  void Defer();
  void Respond(const absl::Status& status);
  void Watch();
  void Finish(const absl::Status& status);
  void TagBack();

  struct Rpc {
    Rpc() : stream(&server) {}

    grpc::GenericServerContext server;
    grpc::GenericServerAsyncReaderWriter stream;
    grpc::ByteBuffer bytes;
    grpc::Alarm alarm;
    grpc::Alarm answer_alarm;  // set by whoever gives a deferred answer
  };

  const GenericCallContext* const context_;
  MemberTag<GenericCall, &GenericCall::Arrived> arrived_{this};
  MemberTag<GenericCall, &GenericCall::Read> read_{this};
  MemberTag<GenericCall, &GenericCall::Inflated> inflated_{this};
  MemberTag<GenericCall, &GenericCall::Written> written_{this};
  MemberTag<GenericCall, &GenericCall::Woken> woken_{this};
  MemberTag<GenericCall, &GenericCall::Answered> answered_{this};
  MemberTag<GenericCall, &GenericCall::Finished> finished_{this};
  MemberTag<GenericCall, &GenericCall::Done> done_{this};

  Rpc rpc_;
  const MethodTable::Method* method_ = nullptr;
  const MethodAccess* access_ = nullptr;
  Grant grant_;
  Inflation inflation_;
  std::string request_;
  std::string last_response_;
  absl::Status deferred_status_;
  bool over_ = false;   // Done has come
  bool lasts_ = false;  // a stop is to end it
  int tags_out_ = 0;
};

}  // namespace mpsd
