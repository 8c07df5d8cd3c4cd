// Client: what a C++ program says to a server of the Open Inference Protocol, and to mpsd itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/daemon_status.h"
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
};

// Thread-safe: calls may be made from any number of threads and share one connection. Owned by
// whoever connected; calls that are under way must have returned before it is destroyed.
//
// Each call blocks until it is answered, at the latest until `deadline`, which the server sees too
// and honours. A server's error comes back with its code and text. An answer that contradicts
// itself is INTERNAL. Nothing is retried.
class Client {
 public:
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

  // UNIMPLEMENTED where the server is not mpsd.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

 private:
  struct Stubs;  // keeps gRPC out of this header

  explicit Client(std::unique_ptr<Stubs> stubs);

  const std::unique_ptr<Stubs> stubs_;
};

}  // namespace mpsd::client
