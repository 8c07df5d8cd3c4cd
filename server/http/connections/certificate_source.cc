#include "server/http/connections/certificate_source.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/clock.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

constexpr size_t kMaxPemBytes = 1 << 20;
// A file system's clock ticks in milliseconds. A file written less than this before it was read may
// change again under the same stamp.
constexpr int64_t kStampDoubtNs = kNsPerSecond;

template <typename T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const { Free(object); }
};
using Bio = std::unique_ptr<BIO, Freer<BIO, BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;

// Nobody is there to type a passphrase.
int NoPassphrase(char*, int, int, void*) { return 0; }

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate FirstCertificate(const std::string& text) {
  return Certificate(PEM_read_bio_X509(Reader(text).get(), nullptr, NoPassphrase, nullptr));
}

int64_t NotAfter(const X509& certificate) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &time) != 1) return 0;
  return absl::ToUnixSeconds(absl::FromTM(time, absl::UTCTimeZone()));
}

// By a door's thread, which a pipe would hold up.
absl::Status ReadFile(const std::string& path, std::string* text) {
  absl::StatusOr<std::string> content = ReadRegularFile(path, kMaxPemBytes);
  if (!content.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' cannot be read"));
  }
  *text = *std::move(content);
  return absl::OkStatus();
}

absl::Status Fault(const std::string& path, absl::string_view what) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat("'", path, "' ", what));
}

}  // namespace

absl::StatusOr<CertificateTexts> ReadCertificates(const CertificateFiles& files) {
  CertificateTexts texts;
  absl::Status status = ReadFile(files.certificate, &texts.certificate);
  if (status.ok()) status = ReadFile(files.key, &texts.key);
  if (status.ok() && !files.client_ca.empty()) status = ReadFile(files.client_ca, &texts.client_ca);
  if (!status.ok()) return status;
  const Certificate certificate = FirstCertificate(texts.certificate);
  if (certificate == nullptr) return Fault(files.certificate, "holds no certificate in PEM");
  const Key key(PEM_read_bio_PrivateKey(Reader(texts.key).get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) return Fault(files.key, "holds no private key in PEM without a passphrase");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Fault(files.key, absl::StrCat("is not the key of '", files.certificate, "'"));
  }
  if (!files.client_ca.empty() && FirstCertificate(texts.client_ca) == nullptr) {
    return Fault(files.client_ca, "holds no certificate in PEM");
  }
  texts.not_after_s = NotAfter(*certificate);
  return texts;
}

absl::StatusOr<std::shared_ptr<CertificateSource>> CertificateSource::Open(CertificateFiles files,
                                                                           AccessMetrics* metrics,
                                                                           Logger* logger) {
  std::shared_ptr<CertificateSource> source(
      new CertificateSource(std::move(files), metrics, logger));
  const Stamps stamps = source->Look();
  absl::StatusOr<CertificateTexts> texts = ReadCertificates(source->files_);
  if (!texts.ok()) return texts.status();
  absl::MutexLock lock(&source->mu_);
  source->read_ = stamps;
  source->Take(*std::move(texts));
  return source;
}

std::shared_ptr<const CertificateTexts> CertificateSource::Next(uint64_t* version) {
  absl::MutexLock lock(&mu_);
  ReadIfChanged();
  if (*version == version_) return nullptr;
  *version = version_;
  return texts_;
}

void CertificateSource::ReadIfChanged() {
  const Stamps stamps = Look();
  if (stamps == read_) return;
  absl::StatusOr<CertificateTexts> texts = ReadCertificates(files_);
  const int64_t newest_ns = std::max(
      {stamps.certificate.modified_ns, stamps.key.modified_ns, stamps.client_ca.modified_ns});
  const bool is_certain = absl::ToUnixNanos(absl::Now()) - newest_ns > kStampDoubtNs;
  if (is_certain) read_ = stamps;
  if (!texts.ok()) {
    if (refusal_ == texts.status().message()) return;
    refusal_ = std::string(texts.status().message());
    metrics_->certificates_refused.fetch_add(1);
    logger_->Log(LogLevel::kError, "certificate_refused", {{"reason", refusal_}});
    return;
  }
  refusal_.clear();
  const bool is_same = texts->certificate == texts_->certificate && texts->key == texts_->key &&
                       texts->client_ca == texts_->client_ca;
  if (is_same) return;
  Take(*std::move(texts));
  metrics_->certificates_taken.fetch_add(1);
  logger_->Log(LogLevel::kInfo, "certificate_taken",
               {{"file", files_.certificate}, {"not_after_s", texts_->not_after_s}});
}

void CertificateSource::Take(CertificateTexts texts) {
  texts_ = std::make_shared<const CertificateTexts>(std::move(texts));
  metrics_->certificate_not_after_s = texts_->not_after_s;
  ++version_;
}

CertificateSource::Stamps CertificateSource::Look() const {
  return {StampOf(files_.certificate), StampOf(files_.key), StampOf(files_.client_ca)};
}

}  // namespace mpsd
