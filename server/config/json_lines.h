// JsonLines: the line of each value in a JSON text, and of its first syntax error.
//
// ParseConfig() needs them for "demo.json:12: models[0].path: …". The parser that builds a document
// keeps no lines, and reports the place of a syntax error only by throwing, which mpsd never does.
// So the text is scanned once more, at the start and at a reload.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// The lines of one text; lives only while its config is parsed. Paths are as JsonPath() writes
// them: "models[0].name". A member's line is the line of its key, an element's the line where its
// value begins:
//
//   1  {
//   2    "models": [            models
//   3      { "name":            models[0], models[0].name
//   4          "resnet" }
//
// Uses memory for each key and element of the text, which ReadConfig() bounds to 1 MiB. Values more
// than kMaxDepth levels down have no line of their own, so that deep nesting makes no long paths.
// Thread-safe: constant after construction.
class JsonLines {
 public:
  static constexpr size_t kMaxDepth = 32;

  // `text` is JSON that a parser has accepted, comments included. For any other text the lines mean
  // nothing, but the scan is safe.
  explicit JsonLines(std::string_view text);

  // The line, from 1. A path without a line of its own, such as a missing key, gets the line of the
  // nearest value around it.
  size_t LineOf(std::string_view path) const;

  // A member that appears a second time in its object. JSON allows that, but a parser keeps only
  // the last one and hides the others from an operator. `line` is the repetition's; LineOf(path)
  // gives the first.
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

// "3: is not JSON: unexpected …": the line, from 1, and the parser's message. Parses the text
// again, without building a document. REQUIRES: `text`, without its comments, is not JSON. Pure.
std::string JsonSyntaxError(std::string_view text);

}  // namespace mpsd
