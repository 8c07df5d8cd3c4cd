// Client: a C++ program's access to a server of the Open Inference Protocol, and to mpsd itself.
//
//   auto client = Client::Connect("127.0.0.1:8001", absl::Now() + absl::Seconds(5));
//   if (!client.ok()) return client.status();
//   const std::vector<float> row(1024, 0.5F);
//   auto reply = (*client)->Infer(
//       {"mlp", "", "", {MakeInput<float>("input", {1, 1024}, row)}, {}},
//       absl::Now() + absl::Seconds(1));
//   if (reply.ok()) Use(*Values<float>(reply->outputs[0]));
//
// Programs also include tensor.h (inputs and outputs) and infer_stream.h (many requests over one
// stream). Some need shared_region.h (tensors in shared memory) or retry_policy.h (repeated calls).
// The folder client/examples has whole programs.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/daemon_status.h"
#include "client/retry_policy.h"
#include "client/tensor.h"

namespace mpsd::client {

// An input or output as the server describes it.
struct TensorMetadata {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;  // with the batch dim; -1: any size
};

// A model as the server describes it; `versions` are those that are served.
struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};

// A version of a model that a server knows, loaded or not.
struct ListedModel {
  std::string name;
  std::string version;
  std::string state;   // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;  // why it is not ready; may be empty
};

// How much a model has run since it was loaded, in all its versions.
struct ModelRuns {
  uint64_t rows = 0;
  uint64_t batches = 0;  // in which these rows ran
};

// One request. Borrows its inputs' bytes, see InferInput.
struct InferRequest {
  std::string model;
  std::string version;  // empty: the highest version that is ready
  std::string id;       // returned with the answer, and in the server's error texts
  std::vector<InferInput> inputs;
  std::vector<std::string> outputs;  // the wanted outputs; empty: all
  // The outputs that the server writes into shared memory, and where. The size of the range is the
  // most that the server may write there. Only for outputs that `outputs` names.
  std::map<std::string, RegionRange> output_ranges{};
};

// The answer to one request. Owns its outputs' bytes.
struct InferReply {
  std::string model;
  std::string version;  // the version that answered
  std::string id;
  std::vector<InferOutput> outputs;
  uint64_t truncated_texts = 0;  // how many of the request's texts the server cut
};

// How to reach a server, and with which credentials. All texts are contents, not paths.
struct ConnectOptions {
  bool tls = false;
  std::string tls_ca;           // PEM: the server's certificate authority; empty: the system's
  std::string tls_certificate;  // PEM, with `tls_key`: the client's own; empty: none is shown
  std::string tls_key;
  std::string token;  // sent with each call; empty: none
  RetryOptions retry;
};

// One connection to a server. Thread-safe: any number of threads may call at once, and they share
// the connection. Owned by the program. Blocking calls must have returned before the client is
// destroyed; the destructor waits for asynchronous ones.
//
// Each call blocks until it is answered, but not beyond `deadline`, which the server sees too and
// honours. A server's error keeps its code and text. An answer that contradicts itself is INTERNAL.
// Inferences are repeated as `RetryOptions` say, by default never; other calls are never repeated.
class Client {
 public:
  // Called exactly once, on a thread of gRPC's, which it must not block; on the calling thread if
  // the request is malformed.
  using InferDone = std::function<void(absl::StatusOr<InferReply> reply)>;

  // Connects to "host:port" or "unix:/path", and blocks until that succeeds, fails or `deadline`
  // passes. UNAVAILABLE when no server answers there, and says why: nobody listens, the certificate
  // is not trusted, one side speaks TLS and the other does not, no answer in time.
  // INVALID_ARGUMENT when a token would go to another host without TLS. The next call after a lost
  // connection connects again. Ignores HTTP proxies of the environment.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& address,
                                                         absl::Time deadline,
                                                         const ConnectOptions& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Whether the server is ready for inferences: false while it starts and while it stops.
  absl::StatusOr<bool> ServerReady(absl::Time deadline);

  // The model's inputs and outputs. An empty `version` means the highest that is ready. NOT_FOUND
  // when the server has no such model or version.
  absl::StatusOr<ModelMetadata> GetModelMetadata(const std::string& model,
                                                 const std::string& version, absl::Time deadline);

  // All versions of all models that the server knows, in the server's order. UNIMPLEMENTED when the
  // server keeps no such list.
  absl::StatusOr<std::vector<ListedModel>> ListModels(absl::Time deadline);

  // The rows and batches that the model has run. NOT_FOUND when the server has no such model;
  // UNIMPLEMENTED when it keeps no such counts.
  absl::StatusOr<ModelRuns> GetModelRuns(const std::string& model, absl::Time deadline);

  // Runs one inference, and sleeps between tries if it is repeated. The tensors of `request` must
  // stay valid until the call returns. Answers of up to 1 GiB. INVALID_ARGUMENT, with nothing sent,
  // when an input has no datatype.
  absl::StatusOr<InferReply> Infer(const InferRequest& request, absl::Time deadline);

  // Returns at once. The request's tensors are copied. `done` may be called before this returns.
  void InferAsync(const InferRequest& request, absl::Time deadline, InferDone done);

  // The same with a future, which is ready at `deadline` at the latest.
  std::future<absl::StatusOr<InferReply>> InferFuture(const InferRequest& request,
                                                      absl::Time deadline);

  // Registers the shared-memory object `key` of this host under the name `name`. SharedRegion does
  // all of this. UNIMPLEMENTED when the server accepts none.
  absl::Status RegisterRegion(const std::string& name, const std::string& key, uint64_t bytes,
                              absl::Time deadline);
  absl::Status UnregisterRegion(const std::string& name, absl::Time deadline);

  // Registers memory of a CUDA device, which the program owns, under the name `name`. `handle` is
  // the bytes of the memory's cudaIpcMemHandle_t. Inputs and outputs name its ranges as they name
  // ranges of any region. The program must unregister the memory before it frees it. UNIMPLEMENTED
  // when the server accepts none.
  absl::Status RegisterDeviceRegion(const std::string& name, const std::string& handle,
                                    int64_t device, uint64_t bytes, absl::Time deadline);
  absl::Status UnregisterDeviceRegion(const std::string& name, absl::Time deadline);

  // The state of the daemon, its models and workers. UNIMPLEMENTED when the server is not mpsd.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

  // Has the daemon take again the contents that all versions of a model refuse, since they crashed
  // its workers. Returns how many they were. NOT_FOUND for a model that is not served.
  absl::StatusOr<uint32_t> ForgiveContents(const std::string& model, absl::Time deadline);

  // For the other sources of this folder.
  struct Stubs;  // keeps gRPC out of this header
  Stubs& stubs() { return *stubs_; }

 private:
  Client(std::unique_ptr<Stubs> stubs, const RetryOptions& retry);

  const std::unique_ptr<Stubs> stubs_;
  const RetryOptions retry_;
};

}  // namespace mpsd::client
