// ShownToken: the credential that a client shows with each of its calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

namespace mpsd::load {

// Owned by a pump. Constant, so thread-safe.
class ShownToken {
 public:
  // An empty token stands for none: nothing is shown then.
  explicit ShownToken(const std::string& token) : header_(token.empty() ? "" : "Bearer " + token) {}

  // To be called before the call begins.
  void AddTo(grpc::ClientContext* call) const {
    if (!header_.empty()) call->AddMetadata("authorization", header_);
  }

 private:
  const std::string header_;
};

}  // namespace mpsd::load
