// EchoServer: a gRPC server that does the least possible for a call: the ceiling of this machine.
//
// Every server has to take a call from gRPC and give one back. The echo does only that, with the
// same means as the daemon. Figure T1 of load_tests/README.md compares the two.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd::load {

// Answers every ModelInfer with the request's own bytes. Uses completion queues and raw byte
// buffers. Like a real server, it reads each call's deadline and asks for a notice of the call's
// end. Thread-compatible. Serves from Start() until it is destroyed, which cancels open calls.
class EchoServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:0";  // port 0: any free one; or "unix:/path"
    uint32_t threads = 1;                 // each with its own completion queue
    uint32_t armed_calls = 256;           // for each queue; further calls wait for a free one
  };

  // UNAVAILABLE when the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<EchoServer>> Start(const Options& options);
  ~EchoServer();

  // The address it listens on, with the port that was found.
  const std::string& address() const { return address_; }

 private:
  using Service = inference::GRPCInferenceService::WithRawMethod_ModelInfer<
      inference::GRPCInferenceService::AsyncService>;
  class Call;  // one armed call; its memory serves one call after another

  EchoServer() = default;
  static void Serve(grpc::ServerCompletionQueue* queue, uint32_t armed_calls);
  static void ShutDown(grpc::ServerCompletionQueue* queue);

  std::string address_;
  Service service_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::thread> threads_;
};

}  // namespace mpsd::load
