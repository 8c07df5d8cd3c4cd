// CertificateSource: the server's certificate and key, as their files are now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/file_stamp.h"
#include "server/telemetry/access_metrics.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

struct CertificateFiles {
  std::string certificate;  // PEM: ours, then those between it and its authority
  std::string key;          // PEM
  std::string client_ca;    // PEM: who may have signed a client's; empty: none is asked for
};

// Contents of the files that belong together: the key is that of the certificate.
struct CertificateTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;
  int64_t not_after_s = 0;  // since the epoch
};

// INVALID_ARGUMENT naming what is wrong: no certificate, no key, a key of another certificate, no
// authority. Thread-safe.
absl::StatusOr<CertificateTexts> ReadCertificates(const CertificateFiles& files);

// Thread-safe. Asked for each connection that is being set up; looks then whether the files have
// changed. New ones are taken when they belong together, so that while only half of a pair was
// written the old one goes on. Owned by the credentials of the server's listeners.
class CertificateSource {
 public:
  // As ReadCertificates(). The referents outlive it.
  static absl::StatusOr<std::shared_ptr<CertificateSource>> Open(CertificateFiles files,
                                                                 AccessMetrics* metrics,
                                                                 Logger* logger);

  // What is in force, once for each generation: null when `*generation` is of it, else it becomes
  // that. Generations begin with 1.
  std::shared_ptr<const CertificateTexts> Next(uint64_t* generation) ABSL_LOCKS_EXCLUDED(mu_);

  bool asks_clients() const { return !files_.client_ca.empty(); }

 private:
  // What tells contents of the files from others.
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
  Stamps read_ ABSL_GUARDED_BY(mu_);  // of what was read last, whether it was taken or not
  std::shared_ptr<const CertificateTexts> texts_ ABSL_GUARDED_BY(mu_);
  uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;
  std::string refusal_ ABSL_GUARDED_BY(mu_);  // why the last ones were not taken; empty: they were
};

}  // namespace mpsd
