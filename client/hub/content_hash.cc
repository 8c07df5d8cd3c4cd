#include "client/hub/content_hash.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd::hub {

constexpr size_t kSha256Digits = 64;

ContentHash::ContentHash(absl::string_view id, uint64_t bytes) : context_(EVP_MD_CTX_new()) {
  MPSD_CHECK(context_ != nullptr);
  const bool is_sha256 = id.size() == kSha256Digits;
  MPSD_CHECK(EVP_DigestInit_ex(context_, is_sha256 ? EVP_sha256() : EVP_sha1(), nullptr) == 1);
  if (!is_sha256) {
    std::string head = absl::StrCat("blob ", bytes);
    head.push_back('\0');
    Add(head);
  }
}

ContentHash::~ContentHash() { EVP_MD_CTX_free(context_); }

void ContentHash::Add(absl::string_view piece) {
  MPSD_CHECK(EVP_DigestUpdate(context_, piece.data(), piece.size()) == 1);
}

std::string ContentHash::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  MPSD_CHECK(EVP_DigestFinal_ex(context_, digest, &size) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace mpsd::hub
