#include "client/credentials.h"

namespace mpsd::client {

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const ConnectOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({options.tls_ca, options.tls_key, options.tls_certificate});
}

}  // namespace mpsd::client
