// Client: what a C++ program says to a server of the Open Inference Protocol, and to mpsd itself.
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

struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};

struct InferRequest {
  std::string model;
  std::string version;  // empty: the highest that is ready
  std::string id;       // comes back with the answer, and stands in the server's error texts
  std::vector<InferInput> inputs;
  std::vector<std::string> outputs;  // which are wanted; empty: all
  // Which of these the server is to write into shared memory; the range's bytes are the most that
  // it may take there.
  std::map<std::string, RegionRange> output_ranges{};
};

struct InferReply {
  std::string model;
  std::string version;  // the one that answered
  std::string id;
  std::vector<InferOutput> outputs;
};

// How a server is spoken to, and as whom. All texts are contents, not paths.
struct ConnectOptions {
  bool tls = false;
  std::string tls_ca;  // PEM: who may have signed the server's certificate; empty: system's
  std::string tls_certificate;  // PEM, with `tls_key`: the client's own; empty: it shows none
  std::string tls_key;
  std::string token;  // sent with each call; empty: none
  RetryOptions retry;
};

// Thread-safe: calls may be made from any number of threads and share one connection. Owned by
// whoever connected; calls that block must have returned before it is destroyed, and for the others
// the destructor waits.
//
// Each call blocks until it is answered, at the latest until `deadline`, which the server sees too
// and honours. A server's error comes back with its code and text. An answer that contradicts
// itself is INTERNAL. Inferences are made again as `RetryOptions` say, by default never; nothing
// else is.
class Client {
 public:
  // Called once, on a thread of gRPC's, which it must not hold up.
  using InferDone = std::function<void(absl::StatusOr<InferReply> reply)>;

  // Connects to "host:port" or "unix:/path"; UNAVAILABLE as soon as nobody is found there. A
  // connection that is lost later is made anew by the next call. An HTTP proxy that the environment
  // names is not used. INVALID_ARGUMENT for a token that would go to another host without TLS.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& address,
                                                         absl::Time deadline,
                                                         const ConnectOptions& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<bool> ServerReady(absl::Time deadline);

  absl::StatusOr<ModelMetadata> GetModelMetadata(const std::string& model,
                                                 const std::string& version, absl::Time deadline);

  absl::StatusOr<InferReply> Infer(const InferRequest& request, absl::Time deadline);

  // Returns at once. The request's tensors are copied; `done` may run before this has returned.
  void InferAsync(const InferRequest& request, absl::Time deadline, InferDone done);

  // The same as a future, which has the answer when the deadline has passed at the latest.
  std::future<absl::StatusOr<InferReply>> InferFuture(const InferRequest& request,
                                                      absl::Time deadline);

  // Shared memory of this host: the object `key`, which is to be called `name`. SharedRegion does
  // it all. UNIMPLEMENTED where the server takes none.
  absl::Status RegisterRegion(const std::string& name, const std::string& key, uint64_t bytes,
                              absl::Time deadline);
  absl::Status UnregisterRegion(const std::string& name, absl::Time deadline);

  // The caller's own memory of a CUDA device, which is to be called `name`: `handle` is what the
  // driver calls it between processes, the bytes of a cudaIpcMemHandle_t. Inputs and outputs name
  // ranges of it as of any region. It is the caller's to unregister before it is freed.
  // UNIMPLEMENTED where the server takes none.
  absl::Status RegisterDeviceRegion(const std::string& name, const std::string& handle,
                                    int64_t device, uint64_t bytes, absl::Time deadline);
  absl::Status UnregisterDeviceRegion(const std::string& name, absl::Time deadline);

  // UNIMPLEMENTED where the server is not mpsd.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

  struct Stubs;  // keeps gRPC out of this header
  Stubs& stubs() { return *stubs_; }

 private:
  Client(std::unique_ptr<Stubs> stubs, const RetryOptions& retry);

  const std::unique_ptr<Stubs> stubs_;
  const RetryOptions retry_;
};

}  // namespace mpsd::client
