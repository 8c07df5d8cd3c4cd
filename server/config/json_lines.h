// JsonLines: the line of each value in a JSON text, and of its first syntax error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// For errors of ParseConfig(). The parser keeps no lines, and tells a syntax error only by
// throwing, so the text is scanned once more. Paths are as JsonPath() writes them. A member has its
// key's line, an element the line where its value begins:
//
//   1  {
//   2    "models": [            models
//   3      { "name":            models[0], models[0].name
//   4          "resnet" }
//
// Values more than kMaxDepth levels down have no line of their own, so that deep nesting makes no
// long paths. Thread-safe: constant after construction.
class JsonLines {
 public:
  static constexpr size_t kMaxDepth = 32;

  // `text` is JSON that a parser has accepted, comments included. For any other text the scan is
  // safe, but the lines mean nothing.
  explicit JsonLines(std::string_view text);

  // From 1. A path without a line gets the nearest value's around it.
  size_t LineOf(std::string_view path) const;

  // A member that appears again in its object. JSON allows that, but a parser hides all but the
  // last. `line` is the repetition's.
  struct Repeated {
    std::string path;
    size_t line;
  };
  const std::vector<Repeated>& repeated() const { return repeated_; }

 private:
  friend class JsonScanner;

  absl::flat_hash_map<std::string, size_t> lines_;  // by path; the first of repeated members
  std::vector<Repeated> repeated_;                  // in the text's order
};

// "3: is not JSON: unexpected …". Parses the text again, without building a document. REQUIRES:
// `text`, without its comments, is not JSON. Pure.
std::string JsonSyntaxError(std::string_view text);

}  // namespace mpsd
