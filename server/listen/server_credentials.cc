#include "server/listen/server_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/version_info.h>

#include <string>
#include <utility>

namespace mpsd {
namespace {

// Answers gRPC, which asks for the certificate at each connection. Lives as long as the
// credentials. gRPC calls it under a lock of the listener, so each listener needs its own fetcher.
class CertificateFetcher {
 public:
  explicit CertificateFetcher(std::shared_ptr<CertificateSource> source)
      : source_(std::move(source)) {}

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<CertificateFetcher*>(self)->Fetch(config);
  }

 private:
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config) {
    const std::shared_ptr<const CertificateTexts> texts = source_->Next(&version_);
    if (texts == nullptr) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair{texts->key.c_str(), texts->certificate.c_str()};
    // gRPC requires some authority even if clients need no certificate.
    const std::string& roots = texts->client_ca.empty() ? texts->certificate : texts->client_ca;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<CertificateSource> source_;
  uint64_t version_ = 0;  // version that gRPC has
};

grpc_ssl_client_certificate_request_type RequestType(const CertificateSource& source,
                                                     bool client_must_show) {
  if (!source.asks_clients()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return client_must_show ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                          : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

grpc_server_credentials* MakeSsl(CertificateFetcher* fetcher,
                                 grpc_ssl_client_certificate_request_type type) {
  return grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          type, &CertificateFetcher::Fetch, fetcher));
}

// gRPC's C++ interface can change certificates only by polling files, and accepts a key that does
// not fit its certificate. The C interface asks at each connection.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 54
class ReloadingCredentials final : public grpc::ServerCredentials {
 public:
  ReloadingCredentials(std::unique_ptr<CertificateFetcher> fetcher,
                       grpc_ssl_client_certificate_request_type type)
      : fetcher_(std::move(fetcher)), credentials_(MakeSsl(fetcher_.get(), type)) {}
  ~ReloadingCredentials() override { grpc_server_credentials_release(credentials_); }

  // Not used: access/ checks each call instead.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  const std::unique_ptr<CertificateFetcher> fetcher_;
  grpc_server_credentials* const credentials_;
};
#else
class ReloadingCredentials final : public grpc::ServerCredentials {
 public:
  ReloadingCredentials(std::unique_ptr<CertificateFetcher> fetcher,
                       grpc_ssl_client_certificate_request_type type)
      : ServerCredentials(MakeSsl(fetcher.get(), type)), fetcher_(std::move(fetcher)) {}

 private:
  const std::unique_ptr<CertificateFetcher> fetcher_;
};
#endif

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(std::shared_ptr<CertificateSource> source,
                                                        bool client_must_show) {
  const auto type = RequestType(*source, client_must_show);
  return std::make_shared<ReloadingCredentials>(
      std::make_unique<CertificateFetcher>(std::move(source)), type);
}

std::shared_ptr<grpc::ServerCredentials> ControlSocketCredentials() {
  return grpc::experimental::LocalServerCredentials(UDS);
}

}  // namespace mpsd
