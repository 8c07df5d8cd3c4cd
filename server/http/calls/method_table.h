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

// "/inference.GRPCInferenceService/ModelReady" for "ModelReady".
inline std::string InferenceMethodName(absl::string_view method) {
  return absl::StrCat("/inference.GRPCInferenceService/", method);
}

// A method's view of its caller, whom the gate has judged.
struct CallerInfo {
  std::string peer;
  ConnectionId connection{};  // null if nobody asks

  // Whether the caller uses a Unix socket or a loopback address.
  bool IsLocal() const;
};

// Connects door/, which moves bytes, with control/, which knows their meaning and fills the table
// before the server starts. Calls that do not infer come here after the gate. An unknown name is
// UNIMPLEMENTED.
//
//   table->AddTyped<pb::ServerLiveRequest, pb::ServerLiveResponse>(
//       InferenceMethodName("ServerLive"), MethodTable::Kind::kUnary,
//       [](const CallerInfo&, const auto& request, auto* response) {
//         response->set_live(true);
//         return absl::OkStatus();
//       });
//
// Owned by the daemon; outlives the server. Thread-safe once filled. A method never blocks, since
// all calls of its thread would wait; a slow one is kDeferred.
class MethodTable {
 public:
  // Request and response are serialized messages.
  using Unary = std::function<absl::Status(const CallerInfo& caller, absl::string_view request,
                                           std::string* response)>;

  // Stands for the state behind a watched method's responses: different responses, different
  // numbers. Must be cheap.
  using State = std::function<uint64_t()>;

  // The time between two responses of a periodic method.
  using Pause = std::function<int64_t(absl::string_view request)>;

  // Gives a deferred method's answer. Called exactly once a call, from any thread. The call lives
  // until then.
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

  // Adds the method "/package.Service/Name". REQUIRES: the name is new; kUnary or kConversation.
  void Add(const std::string& name, Kind kind, Unary unary);

  // Adds a watched method. Its caller gets another response if `state` has changed and the response
  // differs.
  void AddWatched(const std::string& name, State state, Unary unary);

  // Adds a watched method whose caller gets another response, even an equal one, after each pause.
  void AddPeriodic(const std::string& name, Pause pause, Unary unary);

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

  // Adds a function over protobuf messages. Bytes that are no Request are INVALID_ARGUMENT.
  template <typename Request, typename Response, typename Function>
  void AddTyped(const std::string& name, Kind kind, Function function) {
    Add(name, kind, Typed<Request, Response>(function));
  }
  template <typename Request, typename Response, typename Function>
  void AddTypedWatched(const std::string& name, State state, Function function) {
    AddWatched(name, std::move(state), Typed<Request, Response>(function));
  }

  // Null if there is none.
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
