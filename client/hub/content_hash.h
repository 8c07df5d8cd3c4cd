// ContentHash: the id of a file's content, piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace mpsd::hub {

// Computes the id that the hub gives a file: SHA-256 where `id` has 64 digits, else git's id, which
// is the SHA-1 of a line with the size and of the content. Owned by one transfer.
// Thread-compatible.
class ContentHash {
 public:
  // `id` is the one that the content should have; `bytes` is its whole size.
  ContentHash(absl::string_view id, uint64_t bytes);
  ~ContentHash();

  void Add(absl::string_view piece);

  // The id of all pieces, in hexadecimal digits. REQUIRES: called once, and last.
  std::string Finish();

 private:
  evp_md_ctx_st* const context_;
};

}  // namespace mpsd::hub
