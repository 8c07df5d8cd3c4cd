// TokenizerDocument: a tokenizer.json with its long lists packed.
//
// The file is untrusted. As JSON values its lists would take some 20 times their bytes. So they are
// packed during parsing, which ends at the first exceeded bound.
//
//   {"added_tokens": […],      ─▶ parts
//    "normalizer": {…}, …      ─▶ parts
//    "model": {"type": "BPE",  ─▶ parts
//              "vocab": {…},   ─▶ vocabulary; parts has true in its place
//              "merges": […]}} ─▶ merges; likewise
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "text/tokenizer/fields.h"

namespace mpsd::text {

// Gemma's, the largest known, has 262,144 tokens of 2.5 MB and 500,000 merges of 5 MB.
inline constexpr size_t kMaxVocabularyBytes = 8 << 20;  // all tokens together
inline constexpr size_t kMaxMerges = 1 << 20;
inline constexpr size_t kMaxMergesBytes = 16 << 20;  // tokens of all merges together

// The texts lie behind each other in one piece of memory. Thread-compatible.
class PackedTexts {
 public:
  void Add(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  }

  size_t size() const { return ends_.size(); }
  size_t byte_count() const { return bytes_.size(); }
  absl::string_view operator[](size_t index) const {
    const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
};

enum class VocabularyForm : uint8_t {
  kNone,  // missing or unknown
  kObject,
  kArray,  // tokens with scores, in order of ids
};

struct TokenizerDocument {
  Json parts;  // an object
  VocabularyForm form = VocabularyForm::kNone;
  PackedTexts tokens;
  std::vector<int32_t> ids;    // for kObject
  std::vector<double> scores;  // for kArray
  PackedTexts merges;          // two tokens each, in turn
};

// If the model has no type, `parts` gets the one that the reference assumes. INVALID_ARGUMENT names
// `where`: no JSON object, a malformed list, or an exceeded bound: those above, kMaxTokenizerBytes,
// kMaxTokens, or ParseJson()'s depth. Pure, thread-safe.
absl::Status ParseDocument(absl::string_view text, absl::string_view where,
                           TokenizerDocument* document);

}  // namespace mpsd::text
