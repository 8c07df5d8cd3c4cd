// TlsContexts: the context of the HTTP server's TLS connections.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "server/http/connections/certificate_source.h"

namespace mpsd {

inline constexpr char kHttp2Protocol[] = "h2";

// Makes a context when the CertificateSource has another certificate. TLS 1.2 and 1.3; HTTP/2
// wherever the client names it. Owned by a listener. Lives on the thread that accepts.
class TlsContexts {
 public:
  TlsContexts(std::shared_ptr<CertificateSource> source, bool client_must_show)
      : source_(std::move(source)), client_must_show_(client_must_show) {}

  // Null if no context could be made yet.
  std::shared_ptr<boost::asio::ssl::context> Next();

 private:
  const std::shared_ptr<CertificateSource> source_;
  const bool client_must_show_;
  uint64_t version_ = 0;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace mpsd
