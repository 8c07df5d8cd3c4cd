#include "load_tests/ceilings/echo_server.h"

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd::load {

// Serves one call after another with the same memory. Lives on its queue's thread once armed.
class EchoServer::Call {
 public:
  // A completion queue's tag: a call, and one of the call's two operations.
  struct Tag {
    Call* call;
    bool (Call::*handle)(bool ok);  // false: the server stops, and no tag of the call follows
  };

  Call(Service* service, grpc::ServerCompletionQueue* queue) : service_(service), queue_(queue) {}

  void Arm() {
    writer_.reset();
    context_.emplace();
    writer_.emplace(&*context_);
    received_ = false;
    context_->AsyncNotifyWhenDone(&end_tag_);
    service_->RequestModelInfer(&*context_, &request_, &*writer_, queue_, queue_, &work_tag_);
  }

 private:
  // Called when the request has arrived, and when the answer has been sent.
  bool Work(bool ok) {
    if (received_) return EndOne();
    if (!ok) return false;  // a call that never arrived has no end
    received_ = true;
    open_operations_ = 2;
    deadline_ = context_->raw_deadline();
    writer_->Finish(request_, grpc::Status::OK, &work_tag_);
    return true;
  }

  bool End(bool /*ok*/) {
    cancelled_ = context_->IsCancelled();
    return EndOne();
  }

  bool EndOne() {
    if (--open_operations_ == 0) Arm();
    return true;
  }

  Service* const service_;
  grpc::ServerCompletionQueue* const queue_;
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>> writer_;
  grpc::ByteBuffer request_;
  Tag work_tag_{this, &Call::Work};
  Tag end_tag_{this, &Call::End};
  bool received_ = false;
  int open_operations_ = 0;
  gpr_timespec deadline_{};
  bool cancelled_ = false;
};

absl::StatusOr<std::unique_ptr<EchoServer>> EchoServer::Start(const Options& options) {
  std::unique_ptr<EchoServer> echo(new EchoServer);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&echo->service_);
  for (uint32_t i = 0; i < options.threads; ++i) {
    echo->queues_.push_back(builder.AddCompletionQueue());
  }
  echo->server_ = builder.BuildAndStart();
  if (echo->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options.address));
  }
  echo->address_ = options.address;
  if (absl::EndsWith(options.address, ":0")) {
    echo->address_ = absl::StrCat(options.address.substr(0, options.address.size() - 1), port);
  }
  for (const auto& queue : echo->queues_) {
    for (uint32_t i = 0; i < options.armed_calls; ++i) {
      echo->calls_.push_back(std::make_unique<Call>(&echo->service_, queue.get()));
      echo->calls_.back()->Arm();
    }
    echo->threads_.emplace_back(Serve, queue.get(), options.armed_calls);
  }
  return echo;
}

EchoServer::~EchoServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  for (std::thread& thread : threads_) thread.join();
  for (size_t i = threads_.size(); i < queues_.size(); ++i) ShutDown(queues_[i].get());
}

// A call must not be armed on a queue that is shut down, so the queue ends after its last call.
void EchoServer::Serve(grpc::ServerCompletionQueue* queue, uint32_t armed_calls) {
  void* data = nullptr;
  bool ok = false;
  while (armed_calls > 0 && queue->Next(&data, &ok)) {
    auto* tag = static_cast<Call::Tag*>(data);
    if (!(tag->call->*tag->handle)(ok)) --armed_calls;
  }
  ShutDown(queue);
}

void EchoServer::ShutDown(grpc::ServerCompletionQueue* queue) {
  queue->Shutdown();
  void* data = nullptr;
  bool ok = false;
  while (queue->Next(&data, &ok)) {
  }
}

}  // namespace mpsd::load
