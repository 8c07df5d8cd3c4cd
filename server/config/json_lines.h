// JsonLines: the line of each value of a JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// A parser keeps no lines; this scans the text once more. Paths are those of JsonPath():
// "models[0].name". The line of a member is the line of its key; the line of an element is where
// its value begins. Values more than kMaxDepth levels down have no line of their own. Thread-safe:
// constant after construction.
class JsonLines {
 public:
  static constexpr size_t kMaxDepth = 32;

  // For a text that a JSON parser has accepted. For any other text the lines mean nothing, but the
  // scan is safe.
  explicit JsonLines(std::string_view text);

  // The line, from 1. A path without a line of its own has the line of the nearest value around it.
  size_t LineOf(std::string_view path) const;

  // A member that stands again in its object. A parser that keeps the last one would hide the
  // others.
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
