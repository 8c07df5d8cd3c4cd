#include "server/http/certificate_names.h"

#include <arpa/inet.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

namespace mpsd {
namespace {

constexpr size_t kMaxNames = 32;

struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  const bool is_known = family == AF_INET || ASN1_STRING_length(address) == 16;
  if (!is_known) return "";
  return inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
}

std::string NameOf(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
      return TextOf(name.d.dNSName);
    case GEN_URI:
      return TextOf(name.d.uniformResourceIdentifier);
    case GEN_EMAIL:
      return TextOf(name.d.rfc822Name);
    case GEN_IPADD:
      return AddressOf(name.d.iPAddress);
    default:
      return "";
  }
}

void AddCommonName(X509* certificate, std::vector<std::string>* names) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (place < 0) return;
  names->push_back(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place))));
}

}  // namespace

std::vector<std::string> CertificateNames(SSL* connection) {
  std::vector<std::string> names;
  const std::unique_ptr<X509, FreeCertificate> certificate(SSL_get1_peer_certificate(connection));
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return names;
  AddCommonName(certificate.get(), &names);
  const std::unique_ptr<GENERAL_NAMES, FreeNames> others(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  const int count = others == nullptr ? 0 : sk_GENERAL_NAME_num(others.get());
  for (int i = 0; i < count && names.size() < kMaxNames; ++i) {
    std::string name = NameOf(*sk_GENERAL_NAME_value(others.get(), i));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace mpsd
