#include "tests/fakes/fake_inference_server.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "proto/base/check.h"

namespace mpsd {

class FakeInferenceServer::InferenceService final
    : public inference::GRPCInferenceService::Service {
 public:
  explicit InferenceService(FakeInferenceServer* fake) : fake_(fake) {}

  grpc::Status ServerReady(grpc::ServerContext*, const inference::ServerReadyRequest*,
                           inference::ServerReadyResponse* response) override {
    response->set_ready(fake_->ready);
    return grpc::Status::OK;
  }

  grpc::Status ModelMetadata(grpc::ServerContext*, const inference::ModelMetadataRequest* request,
                             inference::ModelMetadataResponse* response) override {
    if (request->name() != fake_->metadata.name()) {
      return {grpc::StatusCode::NOT_FOUND,
              "Request for unknown model: '" + request->name() + "' is not found"};
    }
    *response = fake_->metadata;
    return grpc::Status::OK;
  }

  grpc::Status RepositoryIndex(grpc::ServerContext*, const inference::RepositoryIndexRequest*,
                               inference::RepositoryIndexResponse* response) override {
    *response = fake_->index;
    return grpc::Status::OK;
  }

  grpc::Status ModelStatistics(grpc::ServerContext* context,
                               const inference::ModelStatisticsRequest* request,
                               inference::ModelStatisticsResponse* response) override {
    if (!fake_->statistics) return {grpc::StatusCode::UNIMPLEMENTED, ""};
    return fake_->statistics(*context, *request, response);
  }

  grpc::Status ModelInfer(grpc::ServerContext* context, const inference::ModelInferRequest* request,
                          inference::ModelInferResponse* response) override {
    {
      absl::MutexLock lock(&fake_->mu_);
      fake_->last_infer_ = *request;
    }
    return fake_->infer(*context, *request, response);
  }

  grpc::Status ModelStreamInfer(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<inference::ModelStreamInferResponse, inference::ModelInferRequest>*
          stream) override {
    inference::ModelInferRequest request;
    while (stream->Read(&request)) {
      inference::ModelStreamInferResponse response;
      const grpc::Status status = fake_->stream_infer(*context, request, &response);
      if (!status.ok()) return status;
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

  grpc::Status CudaSharedMemoryRegister(
      grpc::ServerContext* context, const inference::CudaSharedMemoryRegisterRequest* request,
      inference::CudaSharedMemoryRegisterResponse* response) override {
    return fake_->register_device_region(*context, *request, response);
  }

  grpc::Status CudaSharedMemoryUnregister(
      grpc::ServerContext* context, const inference::CudaSharedMemoryUnregisterRequest* request,
      inference::CudaSharedMemoryUnregisterResponse* response) override {
    return fake_->unregister_device_region(*context, *request, response);
  }

 private:
  FakeInferenceServer* const fake_;
};

class FakeInferenceServer::ControlService final : public control::v1::Control::Service {
 public:
  explicit ControlService(FakeInferenceServer* fake) : fake_(fake) {}

  grpc::Status Status(grpc::ServerContext* context, const control::v1::StatusRequest* request,
                      control::v1::StatusReply* reply) override {
    if (!fake_->status) return {grpc::StatusCode::UNIMPLEMENTED, ""};
    return fake_->status(*context, *request, reply);
  }

  grpc::Status Forgive(grpc::ServerContext* context, const control::v1::ForgiveRequest* request,
                       control::v1::ForgiveReply* reply) override {
    return fake_->forgive(*context, *request, reply);
  }

 private:
  FakeInferenceServer* const fake_;
};

FakeInferenceServer::FakeInferenceServer() {
  std::string folder = std::filesystem::temp_directory_path() / "mpsd-test-XXXXXX";
  MPSD_CHECK(mkdtemp(folder.data()) != nullptr);
  folder_ = folder;
}

FakeInferenceServer::~FakeInferenceServer() {
  if (server_ != nullptr) server_->Shutdown();
  std::filesystem::remove_all(folder_);
}

void FakeInferenceServer::Start() {
  inference_service_ = std::make_unique<InferenceService>(this);
  control_service_ = std::make_unique<ControlService>(this);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
  builder.RegisterService(inference_service_.get());
  builder.RegisterService(control_service_.get());
  server_ = builder.BuildAndStart();
  MPSD_CHECK(server_ != nullptr);
}

inference::ModelInferRequest FakeInferenceServer::LastInfer() const {
  absl::MutexLock lock(&mu_);
  return last_infer_;
}

}  // namespace mpsd
