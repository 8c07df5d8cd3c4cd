// JsonLines: the line of each value of a JSON text, and of the place where a text stops being JSON.
//
// ParseConfig() needs them for "demo.json:12: models[0].path: …". The parser that builds a document
// keeps no lines, and tells the place of a syntax error only by throwing, which mpsd never does. So
// the text is scanned once more, at the start and at a reload.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// The lines of one text, which lives only as long as its config is parsed. Paths are those of
// JsonPath(): "models[0].name". The line of a member is the line of its key; the line of an element
// is where its value begins:
//
//   1  {
//   2    "models": [            models
//   3      { "name":            models[0], models[0].name
//   4          "resnet" }
//
// Takes memory for each key and element of the text, which ReadConfig() bounds to 1 MiB. Values
// more than kMaxDepth levels down have no line of their own, so that deep nesting makes no long
// paths. Thread-safe: constant after construction.
class JsonLines {
 public:
  static constexpr size_t kMaxDepth = 32;

  // For a text that a JSON parser has accepted, comments included. For any other text the lines
  // mean nothing, but the scan is safe.
  explicit JsonLines(std::string_view text);

  // The line, from 1. A path without a line of its own, such as a key that is missing, has the line
  // of the nearest value around it.
  size_t LineOf(std::string_view path) const;

  // A member that stands again in its object: JSON allows that, and a parser that keeps the last
  // one would hide the others from an operator. `line` is that of the repetition; LineOf(path) is
  // that of the first.
  struct Repeated {
    std::string path;
    size_t line;
  };
  const std::vector<Repeated>& repeated() const { return repeated_; }

 private:
  friend class JsonScanner;

  absl::flat_hash_map<std::string, size_t> lines_;  // by path; the first where a member repeats
  std::vector<Repeated> repeated_;                  // in the order of the text
};

// "3: is not JSON: unexpected …": the line, from 1, and what the parser says. Parses the text anew,
// without building a document. REQUIRES: `text`, whose comments are left out, is not JSON. Pure.
std::string JsonSyntaxError(std::string_view text);

}  // namespace mpsd
