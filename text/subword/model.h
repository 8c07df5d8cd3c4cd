// Model: the third step of a tokenizer, which finds the tokens of each piece in a vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "text/split/pieces.h"

namespace mpsd::text {

// Owned by its Tokenizer. Constant after construction, so thread-safe.
class Model {
 public:
  virtual ~Model() = default;

  // Appends the ids of the tokens of all pieces. Never fails: what has no token is the unknown one.
  virtual void Append(const Pieces& pieces, std::vector<int32_t>* ids) const = 0;

  // The id of a token; -1 where the vocabulary has none of this name.
  virtual int32_t Find(absl::string_view token) const = 0;

  // The tokens of these ids, each empty where the vocabulary has none. Looks at the whole of it.
  virtual std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const = 0;

  // How many tokens the vocabulary has.
  virtual int32_t size() const = 0;

  // All ids are below; no less than size(), since a vocabulary may have gaps.
  virtual int32_t id_bound() const = 0;
};

}  // namespace mpsd::text
