// EchoServer: a gRPC server that does the least possible for a call, with the same means as the
// daemon. Figure T1 of load_tests/README.md compares the two.
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

// Like a real server, it reads each call's deadline and asks for a notice of its end. Serves until
// destroyed, which cancels open calls. Thread-compatible.
class EchoServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:0";  // port 0: any free one; or "unix:/path"
    uint32_t threads = 1;                 // each with its own completion queue
    uint32_t armed_calls = 256;           // for each queue; further calls wait
  };

  // UNAVAILABLE when the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<EchoServer>> Start(const Options& options);
  ~EchoServer();

  // With the port that was found.
  const std::string& address() const { return address_; }

 private:
  using Service = inference::GRPCInferenceService::WithRawMethod_ModelInfer<
      inference::GRPCInferenceService::AsyncService>;
  class Call;  // its memory serves one call after another

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
