#include "server/access/sha256.h"

// EVP, which OpenSSL 3 recommends, takes heap memory for each digest. The older functions take
// none.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace mpsd {

std::optional<Sha256Digest> Sha256(absl::string_view text) {
  return Sha256(absl::MakeConstSpan(&text, 1));
}

std::optional<Sha256Digest> Sha256(absl::Span<const absl::string_view> texts) {
  SHA256_CTX context;
  Sha256Digest digest;
  bool done = SHA256_Init(&context) == 1;
  for (const absl::string_view text : texts) {
    done = done && SHA256_Update(&context, text.data(), text.size()) == 1;
  }
  done = done && SHA256_Final(digest.data(), &context) == 1;
  if (!done) return std::nullopt;
  return digest;
}

bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace mpsd
