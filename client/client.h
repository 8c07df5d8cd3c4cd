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
// See also tensor.h, infer_stream.h, shared_region.h, retry_policy.h, and the programs in
// client/examples.
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

struct TensorMetadata {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;  // with the batch dim; -1: any size
};

// `versions` are those that are served.
struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};

// The model may be loaded or not.
struct ListedModel {
  std::string name;
  std::string version;
  std::string state;   // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;  // why it is not ready; may be empty
};

// Counts since the model was loaded, in all versions.
struct ModelRuns {
  uint64_t rows = 0;
  uint64_t batches = 0;  // batches in which these rows ran
};

// Borrows its inputs' bytes.
struct InferRequest {
  std::string model;
  std::string version;  // empty: the highest that is ready
  std::string id;       // comes back with the answer, and in error texts
  std::vector<InferInput> inputs;
  std::vector<std::string> outputs;  // empty: all
  // Where the server writes outputs that `outputs` names, if they go to shared memory; each range
  // is the most that it may write.
  std::map<std::string, RegionRange> output_ranges{};
};

// Owns its outputs' bytes.
struct InferReply {
  std::string model;
  std::string version;
  std::string id;
  std::vector<InferOutput> outputs;
  uint64_t truncated_texts = 0;  // texts of the request that the server cut
};

// All texts are contents, not paths.
struct ConnectOptions {
  bool tls = false;
  std::string tls_ca;           // PEM: certificate authority; empty: the system's
  std::string tls_certificate;  // PEM, the client's own; empty: none is shown
  std::string tls_key;
  std::string token;  // sent with each call; empty: none
  RetryOptions retry;
};

// One connection to a server. Thread-safe. Blocking calls must have returned before the client is
// destroyed; the destructor waits for asynchronous ones.
//
// Calls block until `deadline` at most, which the server honours too. A server's error keeps its
// code and text; an answer that contradicts itself is INTERNAL. Only inferences are ever repeated.
class Client {
 public:
  // Called exactly once, on a thread of gRPC's, which it must not block, or on the calling thread
  // if the request is malformed.
  using InferDone = std::function<void(absl::StatusOr<InferReply> reply)>;

  // Connects to "host:port" or "unix:/path", and blocks meanwhile. UNAVAILABLE says why no server
  // answers there. INVALID_ARGUMENT if a token would go to another host without TLS. After a lost
  // connection the next call connects again. Ignores HTTP proxies of the environment.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& address,
                                                         absl::Time deadline,
                                                         const ConnectOptions& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False while the server starts or stops.
  absl::StatusOr<bool> ServerReady(absl::Time deadline);

  // An empty `version` is the highest that is ready. NOT_FOUND: no such model or version.
  absl::StatusOr<ModelMetadata> GetModelMetadata(const std::string& model,
                                                 const std::string& version, absl::Time deadline);

  // The order is the server's. UNIMPLEMENTED: the server keeps no such list.
  absl::StatusOr<std::vector<ListedModel>> ListModels(absl::Time deadline);

  // NOT_FOUND: no such model. UNIMPLEMENTED: the server keeps no such counts.
  absl::StatusOr<ModelRuns> GetModelRuns(const std::string& model, absl::Time deadline);

  // Sleeps between tries. The tensors must stay valid until the call returns. Answers of up to 1
  // GiB. INVALID_ARGUMENT, with nothing sent: an input has no datatype.
  absl::StatusOr<InferReply> Infer(const InferRequest& request, absl::Time deadline);

  // Returns at once and copies the tensors. `done` may be called before this returns.
  void InferAsync(const InferRequest& request, absl::Time deadline, InferDone done);

  // The future is ready at `deadline` at the latest.
  std::future<absl::StatusOr<InferReply>> InferFuture(const InferRequest& request,
                                                      absl::Time deadline);

  // Gives the shared-memory object `key` of this host a name; SharedRegion does all of this.
  // UNIMPLEMENTED: the server accepts none.
  absl::Status RegisterRegion(const std::string& name, const std::string& key, uint64_t bytes,
                              absl::Time deadline);
  absl::Status UnregisterRegion(const std::string& name, absl::Time deadline);

  // Gives memory of a CUDA device, which the program owns, a name for ranges, as any region has.
  // `handle` is its cudaIpcMemHandle_t. The program unregisters the memory before it frees it.
  // UNIMPLEMENTED: the server accepts none.
  absl::Status RegisterDeviceRegion(const std::string& name, const std::string& handle,
                                    int64_t device, uint64_t bytes, absl::Time deadline);
  absl::Status UnregisterDeviceRegion(const std::string& name, absl::Time deadline);

  // UNIMPLEMENTED: the server is not mpsd.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

  // Has the daemon take again contents that crashed a model's workers, in all versions. Returns
  // their number. NOT_FOUND: the model is not served.
  absl::StatusOr<uint32_t> ForgiveContents(const std::string& model, absl::Time deadline);

  // Sources of this folder use it. The struct keeps gRPC out of this header.
  struct Stubs;
  Stubs& stubs() { return *stubs_; }

 private:
  Client(std::unique_ptr<Stubs> stubs, const RetryOptions& retry);

  const std::unique_ptr<Stubs> stubs_;
  const RetryOptions retry_;
};

}  // namespace mpsd::client
