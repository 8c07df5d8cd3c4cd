// simple_pre_tokenizers: cuts at spaces, at BERT's borders or behind a text, SentencePiece's sign
// for a space, and a sequence.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/split/pre_tokenizer.h"

namespace mpsd::text {

// Step 2 of a tokenizer, made from a file by tokenizer/part_readers. Each is constant once made,
// owned by its Tokenizer, and takes time that only grows with the text's length. None can fail.

// Each step cuts the pieces of the one before, so their order counts. Copies the text once besides
// the steps' copies. Thread-safe.
class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<PreTokenizer>> steps)
      : steps_(std::move(steps)) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

// Cuts at Unicode's spaces of any kind, and drops them: no token knows of them. Other bytes stay.
// Thread-safe.
class WhitespaceSplit : public PreTokenizer {
 public:
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;
};

// Cuts at spaces, which are dropped, and around each punctuation character, as BERT does: "don't
// go" is "don" "'" "t" "go". Other bytes stay. bert_pre_tokenizer.cc has the code, which looks at
// ASCII first. Thread-safe.
class BertPreTokenizer : public PreTokenizer {
 public:
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;
};

// Cuts behind each occurrence of a text: "two  words" at spaces is "two " " " "words". Thread-safe.
// REQUIRES: the text is not empty.
class SplitBehind : public PreTokenizer {
 public:
  explicit SplitBehind(std::string text) : text_(std::move(text)) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::string text_;
};

// Makes spaces visible, and cuts before each, so that a token knows whether a word begins with it.
// Only ASCII's space counts, and the text's own signs. Every piece of the step before begins anew,
// so each may get a sign in front:
//
//   prepends  cuts     "two words"
//   true      true     "▁two" "▁words"
//   false     true     "two" "▁words"
//   true      false    "▁two▁words"
//
// Thread-safe.
class Metaspace : public PreTokenizer {
 public:
  // `sign` is one character. With `prepends` a piece without a leading sign gets one; without
  // `cuts` a piece stays whole.
  Metaspace(std::string sign, bool prepends, bool cuts)
      : sign_(std::move(sign)), prepends_(prepends), cuts_(cuts) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const std::string sign_;
  const bool prepends_;
  const bool cuts_;
};

}  // namespace mpsd::text
