// CertificateSource: the certificate and key in force.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/files/file_stamp.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

struct CertificateFiles {
  std::string certificate;  // PEM: the server's, then those up to its authority
  std::string key;          // PEM
  std::string client_ca;    // PEM, for clients' certificates; empty: none needed
};

// The key fits the certificate.
struct CertificateTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;
  int64_t not_after_s = 0;  // since the epoch
};

// INVALID_ARGUMENT names the file at fault: no certificate, no key, the key of another certificate,
// no authority. Thread-safe.
absl::StatusOr<CertificateTexts> ReadCertificates(const CertificateFiles& files);

// Asked for each new connection, and then looks at the files' stamps. New contents come into force
// only if they belong together, so the old pair stays while one file is still old. Shared by the
// server's listeners. Reads small files under its lock. Thread-safe.
class CertificateSource {
 public:
  // Fails as ReadCertificates() does. `metrics` and `logger` outlive the source.
  static absl::StatusOr<std::shared_ptr<CertificateSource>> Open(CertificateFiles files,
                                                                 AccessMetrics* metrics,
                                                                 Logger* logger);

  // Returns the contents in force and sets `*version`. Null if `*version` is current. Versions
  // begin with 1.
  std::shared_ptr<const CertificateTexts> Next(uint64_t* version) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Stamps {
    FileStamp certificate;
    FileStamp key;
    FileStamp client_ca;

    bool operator==(const Stamps&) const = default;
  };

  CertificateSource(CertificateFiles files, AccessMetrics* metrics, Logger* logger)
      : files_(std::move(files)), metrics_(metrics), logger_(logger) {}

  Stamps Look() const;
  void ReadIfChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Take(CertificateTexts texts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const CertificateFiles files_;
  AccessMetrics* const metrics_;
  Logger* const logger_;

  absl::Mutex mu_;
  Stamps read_ ABSL_GUARDED_BY(mu_);  // in force or refused
  std::shared_ptr<const CertificateTexts> texts_ ABSL_GUARDED_BY(mu_);
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 0;
  // why the files read last were refused; empty: accepted
  std::string refusal_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
