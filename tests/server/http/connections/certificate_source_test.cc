#include "server/http/connections/certificate_source.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/match.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

constexpr int64_t kYearS = 365 * 24 * 3600;

std::string TakeText(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(bytes));
  BIO_free_all(bio);
  return text;
}

// A certificate that signed itself, good for a year, and its key.
struct SelfSigned {
  explicit SelfSigned(const char* name) {
    EVP_PKEY* pair = EVP_EC_gen("P-256");
    X509* x509 = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), 0);
    X509_gmtime_adj(X509_getm_notAfter(x509), kYearS);
    X509_set_pubkey(x509, pair);
    X509_NAME* subject = X509_NAME_new();
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_subject_name(x509, subject);
    X509_set_issuer_name(x509, subject);
    X509_NAME_free(subject);
    X509_sign(x509, pair, EVP_sha256());
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, x509);
    certificate = TakeText(bio);
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, pair, nullptr, nullptr, 0, nullptr, nullptr);
    key = TakeText(bio);
    X509_free(x509);
    EVP_PKEY_free(pair);
  }

  std::string certificate;
  std::string key;
};

class CertificateSourceTest : public testing::Test {
 protected:
  CertificateSourceTest() {
    files_ = {folder_ + "/certificate", folder_ + "/key", ""};
    Write(files_.certificate, one_.certificate);
    Write(files_.key, one_.key);
  }

  // Another file of that name, as whoever renews certificates leaves it.
  void Write(const std::string& path, const std::string& text) { work_.Replace(path, text); }

  std::string Fault() { return std::string(ReadCertificates(files_).status().message()); }

  std::shared_ptr<CertificateSource> Open() {
    auto source = CertificateSource::Open(files_, &metrics_, &logger_);
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *std::move(source) : nullptr;
  }

  const SelfSigned one_{"one"};
  const SelfSigned two_{"two"};
  const WorkFolder work_;
  const std::string folder_ = work_.path();
  CertificateFiles files_;
  ServerMetrics server_metrics_;
  AccessMetrics metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, Clock::Real(),
                 &server_metrics_};
};

TEST_F(CertificateSourceTest, TheTextsAreThoseOfTheFiles) {
  const auto texts = ReadCertificates(files_).value();
  EXPECT_EQ(texts.certificate, one_.certificate);
  EXPECT_EQ(texts.key, one_.key);
  EXPECT_EQ(texts.client_ca, "");
  EXPECT_NEAR(static_cast<double>(texts.not_after_s),
              static_cast<double>(std::time(nullptr) + kYearS), 3600);
}

TEST_F(CertificateSourceTest, EachMistakeNamesItsFile) {
  Write(files_.key, two_.key);
  EXPECT_EQ(Fault(), "'" + files_.key + "' is not the key of '" + files_.certificate + "'");
  Write(files_.key, "no key");
  EXPECT_EQ(Fault(), "'" + files_.key + "' holds no private key in PEM without a passphrase");
  Write(files_.key, one_.key);
  Write(files_.certificate, one_.certificate.substr(0, 100));
  EXPECT_EQ(Fault(), "'" + files_.certificate + "' holds no certificate in PEM");
  Write(files_.certificate, one_.certificate);
  files_.client_ca = folder_ + "/nothing";
  EXPECT_EQ(Fault(), "'" + files_.client_ca + "' cannot be read");
  Write(files_.client_ca, "no authority");
  EXPECT_EQ(Fault(), "'" + files_.client_ca + "' holds no certificate in PEM");
  EXPECT_FALSE(CertificateSource::Open(files_, &metrics_, &logger_).ok());
}

TEST_F(CertificateSourceTest, EachListenerGetsAGenerationOnce) {
  const auto source = Open();
  uint64_t mine = 0;
  uint64_t another = 0;
  ASSERT_NE(source->Next(&mine), nullptr);
  EXPECT_EQ(source->Next(&mine), nullptr);
  EXPECT_NE(source->Next(&another), nullptr);
  EXPECT_EQ(metrics_.certificates_taken, 0U);
  EXPECT_GT(metrics_.certificate_not_after_s, 0);
}

TEST_F(CertificateSourceTest, ANewPairIsTaken) {
  const auto source = Open();
  uint64_t version = 0;
  source->Next(&version);
  Write(files_.certificate, two_.certificate);
  Write(files_.key, two_.key);
  const auto texts = source->Next(&version);
  ASSERT_NE(texts, nullptr);
  EXPECT_EQ(texts->certificate, two_.certificate);
  EXPECT_EQ(source->Next(&version), nullptr);
  EXPECT_EQ(metrics_.certificates_taken, 1U);
}

TEST_F(CertificateSourceTest, HalfAPairIsNotTakenAndItsOtherHalfIs) {
  const auto source = Open();
  uint64_t version = 0;
  source->Next(&version);
  Write(files_.certificate, two_.certificate);
  EXPECT_EQ(source->Next(&version), nullptr);
  EXPECT_EQ(source->Next(&version), nullptr);
  uint64_t another = 0;
  EXPECT_EQ(source->Next(&another)->certificate, one_.certificate);
  EXPECT_EQ(metrics_.certificates_refused, 1U);
  Write(files_.key, two_.key);
  EXPECT_EQ(source->Next(&version)->key, two_.key);
  EXPECT_EQ(metrics_.certificates_taken, 1U);
}

TEST_F(CertificateSourceTest, FilesThatAreGoneChangeNothing) {
  const auto source = Open();
  uint64_t version = 0;
  source->Next(&version);
  std::filesystem::remove(files_.certificate);
  std::filesystem::remove(files_.key);
  EXPECT_EQ(source->Next(&version), nullptr);
  Write(files_.certificate, one_.certificate);
  Write(files_.key, one_.key);
  EXPECT_EQ(source->Next(&version), nullptr) << "the same contents are nothing new";
  EXPECT_EQ(metrics_.certificates_taken, 0U);
}

TEST_F(CertificateSourceTest, APipeInAFilesPlaceHoldsNobodyUp) {
  const auto source = Open();
  uint64_t version = 0;
  source->Next(&version);
  std::filesystem::remove(files_.key);
  ASSERT_EQ(mkfifo(files_.key.c_str(), 0600), 0);
  EXPECT_EQ(source->Next(&version), nullptr);
  EXPECT_EQ(metrics_.certificates_refused, 1U);
}

// In place, in the same tick of the file system's clock, with the same length.
TEST_F(CertificateSourceTest, WhatWasWrittenAMomentAgoIsLookedAtAgain) {
  const auto source = Open();
  uint64_t version = 0;
  source->Next(&version);
  Write(files_.certificate, two_.certificate);
  Write(files_.key, std::string(two_.key.size(), 'x'));
  const auto time = std::filesystem::last_write_time(files_.key);
  EXPECT_EQ(source->Next(&version), nullptr);
  std::ofstream(files_.key, std::ios::in | std::ios::out) << two_.key;
  std::filesystem::last_write_time(files_.key, time);
  EXPECT_NE(source->Next(&version), nullptr);
}

}  // namespace
}  // namespace mpsd
