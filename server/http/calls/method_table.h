// MethodTable: every method except ModelInfer, by full name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/http/connections/connection_id.h"

namespace mpsd {

// The full name of a method of the Open Inference Protocol: for "ModelReady"
// "/inference.GRPCInferenceService/ModelReady".
inline std::string InferenceMethodName(absl::string_view method) {
  return absl::StrCat("/inference.GRPCInferenceService/", method);
}

// A method's view of its caller, without credentials: the gate has judged them.
struct CallerInfo {
  std::string peer;           // "ipv4:127.0.0.1:40312", "unix:"
  ConnectionId connection{};  // null if nobody asks

  // Whether the caller is on this host: on a Unix socket or a loopback address.
  bool IsLocal() const;
};

// Connects door/, which moves bytes, with control/, which knows their meaning. Filled by control/
// before the server starts; each call that does not infer looks its method up here, after the gate.
// Knows no gRPC: requests and responses are bytes, and a status is the client's answer. An unknown
// name is UNIMPLEMENTED.
//
//   table->AddTyped<pb::ServerLiveRequest, pb::ServerLiveResponse>(
//       InferenceMethodName("ServerLive"), MethodTable::Kind::kUnary,
//       [](const CallerInfo&, const auto& request, auto* response) {
//         response->set_live(true);
//         return absl::OkStatus();
//       });
//
// Owned by the daemon; outlives the server. Thread-safe once filled: any thread may call methods,
// several at a time. A method never blocks, since all calls of its thread would wait; one that
// cannot answer at once is kDeferred.
class MethodTable {
 public:
  // Answers at once. Request and response are serialized messages.
  using Unary = std::function<absl::Status(const CallerInfo& caller, absl::string_view request,
                                           std::string* response)>;

  // A number that stands for the state behind a watched method's responses. Different responses
  // have different numbers. Must be cheap: it is called all the time.
  using State = std::function<uint64_t()>;

  // How long it takes from one response of a periodic method to the next, by its request.
  using Pause = std::function<int64_t(absl::string_view request)>;

  // Gives a deferred method's answer. Called exactly once a call, from any thread.
  using Answer = std::function<void(const absl::Status& status, std::string response)>;
  using Deferred =
      std::function<void(const CallerInfo& caller, absl::string_view request, Answer answer)>;

  enum class Kind {
    kUnary,         // one response
    kWatched,       // a first response, and another whenever it changes, or after each pause
    kConversation,  // one response for each request of a stream, in order
    kDeferred,      // one response, at any time after the method returned
  };

  struct Method {
    Kind kind = Kind::kUnary;
    Unary unary;
    Deferred deferred;
    State state;  // for a watched method; null for a periodic one
    Pause pause;  // for a periodic method
  };

  // Adds the method "/package.Service/Name". REQUIRES: the name is new, and the kind is kUnary or
  // kConversation.
  void Add(const std::string& name, Kind kind, Unary unary);

  // The same for a watched method. Its caller gets another response if `state` has changed and the
  // response differs.
  void AddWatched(const std::string& name, State state, Unary unary);

  // The same for a periodic method, which is watched too. Its caller gets another response after
  // each pause, also an equal one.
  void AddPeriodic(const std::string& name, Pause pause, Unary unary);

  // The same for a method that answers later. `deferred` calls its `answer` exactly once: the call
  // lives until then.
  void AddDeferred(const std::string& name, Deferred deferred);

  // Adds a deferred function over protobuf messages, with an empty answer.
  template <typename Request, typename Function>
  void AddTypedDeferred(const std::string& name, Function function) {
    AddDeferred(name, [function](const CallerInfo& caller, absl::string_view bytes, Answer answer) {
      Request request;
      if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return function(caller, request,
                        [answer](const absl::Status& status) { answer(status, ""); });
      }
      answer(absl::InvalidArgumentError("the bytes are not a request of this method"), "");
    });
  }

  // Adds a function over protobuf messages. Bytes that are no Request are INVALID_ARGUMENT and do
  // not reach the function.
  template <typename Request, typename Response, typename Function>
  void AddTyped(const std::string& name, Kind kind, Function function) {
    Add(name, kind, Typed<Request, Response>(function));
  }
  template <typename Request, typename Response, typename Function>
  void AddTypedWatched(const std::string& name, State state, Function function) {
    AddWatched(name, std::move(state), Typed<Request, Response>(function));
  }

  // Null if there is no such method.
  const Method* Find(absl::string_view name) const;

 private:
  template <typename Request, typename Response, typename Function>
  static Unary Typed(Function function) {
    return [function](const CallerInfo& caller, absl::string_view bytes, std::string* response) {
      Request request;
      if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return absl::InvalidArgumentError("the bytes are not a request of this method");
      }
      Response reply;
      const absl::Status status = function(caller, request, &reply);
      if (status.ok()) MPSD_CHECK(reply.SerializeToString(response));  // it has no required field
      return status;
    };
  }

  void AddMethod(const std::string& name, Method method);

  absl::flat_hash_map<std::string, Method> methods_;
};

}  // namespace mpsd
