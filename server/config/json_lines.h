// JsonLines: on which line of a JSON text each of its values stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// Thread-safe: constant after construction. Paths are those of JsonPath(), "models[0].name". A
// member stands where its key does, an element where its value begins.
//
// Made for texts that a JSON parser has accepted; of any other it makes something harmless. Values
// more than kMaxDepth levels down have no line of their own.
class JsonLines {
 public:
  static constexpr size_t kMaxDepth = 32;

  explicit JsonLines(std::string_view text);

  // From 1. A path that has no line of its own has that of the nearest value around it.
  size_t LineOf(std::string_view path) const;

  // The members that stand more than once in their object, each time but the first. A parser that
  // keeps the last one would hide them.
  struct Repeated {
    std::string path;
    size_t line;
  };
  const std::vector<Repeated>& repeated() const { return repeated_; }

 private:
  friend class JsonScanner;

  absl::flat_hash_map<std::string, size_t> lines_;
  std::vector<Repeated> repeated_;
};

}  // namespace mpsd
