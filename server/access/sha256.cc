#include "server/access/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace mpsd {
namespace {

// Lives on one thread. The context is set up once and begun anew for each text: to name the
// algorithm again would take memory again.
class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) {
    ready_ = context_ != nullptr && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1;
  }
  ~Hasher() { EVP_MD_CTX_free(context_); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  bool Hash(absl::string_view text, Sha256Digest* digest) {
    return ready_ && EVP_DigestInit_ex(context_, nullptr, nullptr) == 1 &&
           EVP_DigestUpdate(context_, text.data(), text.size()) == 1 &&
           EVP_DigestFinal_ex(context_, digest->data(), nullptr) == 1;
  }

 private:
  EVP_MD_CTX* const context_;
  bool ready_ = false;
};

}  // namespace

std::optional<Sha256Digest> Sha256(absl::string_view text) {
  thread_local Hasher hasher;
  Sha256Digest digest;
  if (!hasher.Hash(text, &digest)) return std::nullopt;
  return digest;
}

bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace mpsd
