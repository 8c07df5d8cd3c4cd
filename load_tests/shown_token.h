// ShownToken: the credential that a client shows with each of its calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

namespace mpsd::load {

// Thread-safe: constant.
class ShownToken {
 public:
  // An empty token is none: then nothing is shown.
  explicit ShownToken(const std::string& token) : header_(token.empty() ? "" : "Bearer " + token) {}

  // REQUIRES: the call has not begun.
  void AddTo(grpc::ClientContext* call) const {
    if (!header_.empty()) call->AddMetadata("authorization", header_);
  }

 private:
  const std::string header_;
};

}  // namespace mpsd::load
