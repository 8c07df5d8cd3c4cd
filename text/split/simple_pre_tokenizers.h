// simple_pre_tokenizers: pre-tokenizers with a rule of one line each, and a sequence of any.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/split/pre_tokenizer.h"

namespace mpsd::text {

// Each is constant, and its time only grows with the text's length. None can fail.

// Each step cuts the pieces of the one before. Thread-safe.
class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<PreTokenizer>> steps)
      : steps_(std::move(steps)) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

// Cuts at Unicode's spaces, and drops them. Thread-safe.
class WhitespaceSplit : public PreTokenizer {
 public:
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;
};

// Cuts at spaces, which it drops, and around punctuation: "don't go" is "don" "'" "t" "go".
// Thread-safe.
class BertPreTokenizer : public PreTokenizer {
 public:
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;
};

// Cuts "two  words" behind spaces into "two " " " "words". Thread-safe. REQUIRES: the text is not
// empty.
class SplitBehind : public PreTokenizer {
 public:
  explicit SplitBehind(std::string text) : text_(std::move(text)) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::string text_;
};

// Makes spaces visible, and cuts before each, so that a token knows whether a word begins with it.
// Only ASCII's space and the text's own signs count. Each piece of the step before begins anew:
//
//   prepends  cuts     "two words"
//   true      true     "▁two" "▁words"
//   false     true     "two" "▁words"
//   true      false    "▁two▁words"
//
// Thread-safe.
class Metaspace : public PreTokenizer {
 public:
  // The `sign` is one character. With `prepends` each piece begins with it.
  Metaspace(std::string sign, bool prepends, bool cuts)
      : sign_(std::move(sign)), prepends_(prepends), cuts_(cuts) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::string sign_;
  const bool prepends_;
  const bool cuts_;
};

}  // namespace mpsd::text
