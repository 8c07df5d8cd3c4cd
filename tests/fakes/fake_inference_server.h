// FakeInferenceServer: a server of the protocol inside the test, which answers as the test says.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "proto/control.grpc.pb.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd {

// Listens on a Unix socket in a temporary folder of its own. The handlers are set before Start(),
// and run on gRPC's threads. Thread-safe once it is started.
class FakeInferenceServer {
 public:
  template <class Request, class Response>
  using Handler = std::function<grpc::Status(grpc::ServerContext&, const Request&, Response*)>;

  FakeInferenceServer();
  ~FakeInferenceServer();

  // REQUIRES: called once.
  void Start();

  std::string address() const { return "unix:" + folder_ + "/s"; }
  const std::string& folder() const { return folder_; }

  // The request of the last call of ModelInfer.
  inference::ModelInferRequest LastInfer() const;

  bool ready = true;
  inference::ModelMetadataResponse metadata;
  Handler<inference::ModelInferRequest, inference::ModelInferResponse> infer;
  inference::RepositoryIndexResponse index;
  Handler<inference::ModelStatisticsRequest, inference::ModelStatisticsResponse> statistics;
  // Called once for each request of a stream.
  Handler<inference::ModelInferRequest, inference::ModelStreamInferResponse> stream_infer;
  Handler<control::v1::StatusRequest, control::v1::StatusReply> status;
  Handler<control::v1::ForgiveRequest, control::v1::ForgiveReply> forgive;
  Handler<inference::CudaSharedMemoryRegisterRequest, inference::CudaSharedMemoryRegisterResponse>
      register_device_region;
  Handler<inference::CudaSharedMemoryUnregisterRequest,
          inference::CudaSharedMemoryUnregisterResponse>
      unregister_device_region;

 private:
  class InferenceService;
  class ControlService;

  std::string folder_;
  std::unique_ptr<InferenceService> inference_service_;
  std::unique_ptr<ControlService> control_service_;
  std::unique_ptr<grpc::Server> server_;
  mutable absl::Mutex mu_;
  inference::ModelInferRequest last_infer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
