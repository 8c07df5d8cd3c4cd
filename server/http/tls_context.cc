#include "server/http/tls_context.h"

#include <boost/asio/buffer.hpp>

namespace mpsd {
namespace {

namespace ssl = boost::asio::ssl;
using Error = boost::system::error_code;

constexpr unsigned char kSessions[] = "mpsd";
// Each name has its length before it. The first that the client names too is chosen.
constexpr unsigned char kProtocols[] = "\x02h2\x08http/1.1";

// A client that names only others counts as one that names none.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                   const unsigned char* offered, unsigned offered_bytes, void*) {
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, chosen_bytes, kProtocols, sizeof(kProtocols) - 1,
                                           offered, offered_bytes);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Null for texts that OpenSSL refuses.
std::shared_ptr<ssl::context> MakeContext(const CertificateTexts& texts, bool client_must_show) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  Error error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       error);
  // Otherwise one connection could make the server compute handshake after handshake.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), ChooseProtocol, nullptr);
  context->use_certificate_chain(boost::asio::buffer(texts.certificate), error);
  if (!error) context->use_private_key(boost::asio::buffer(texts.key), ssl::context::pem, error);
  if (!error && !texts.client_ca.empty()) {
    context->add_certificate_authority(boost::asio::buffer(texts.client_ca), error);
    ssl::verify_mode mode = ssl::verify_peer;
    if (client_must_show) mode |= ssl::verify_fail_if_no_peer_cert;
    if (!error) context->set_verify_mode(mode, error);
    // A resumed session was verified here; without a name OpenSSL refuses it.
    SSL_CTX_set_session_id_context(context->native_handle(), kSessions, sizeof(kSessions) - 1);
  }
  return error ? nullptr : context;
}

}  // namespace

std::shared_ptr<ssl::context> TlsContexts::Next() {
  const std::shared_ptr<const CertificateTexts> texts = source_->Next(&version_);
  if (texts == nullptr) return context_;
  if (auto fresh = MakeContext(*texts, client_must_show_); fresh != nullptr) context_ = fresh;
  return context_;
}

}  // namespace mpsd
