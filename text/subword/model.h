// Model: the third step of a tokenizer: finds each piece's tokens in a vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "text/split/pieces.h"

namespace mpsd::text {

// Constant after construction, so thread-safe.
class Model {
 public:
  virtual ~Model() = default;

  // Never fails: text without a token gives the unknown one.
  virtual void Append(const Pieces& pieces, std::vector<int32_t>* ids) const = 0;

  // -1 if there is no such token.
  virtual int32_t Find(absl::string_view token) const = 0;

  // Looks at the whole vocabulary. Unknown ids give empty texts.
  virtual std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const = 0;

  virtual int32_t size() const = 0;

  // All ids are below it. It is at least size(), since ids may have gaps.
  virtual int32_t id_bound() const = 0;
};

}  // namespace mpsd::text
