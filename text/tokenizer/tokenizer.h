// Tokenizer: text in, the ids of its tokens out, exactly as the library `tokenizers` finds them.
//
//   text ─▶ added tokens ─▶ normalizer ─▶ added tokens ─▶ pre-tokenizer ─▶ model
//        ─▶ cut ─▶ frame ─▶ ids
//
// A tokenizer.json says which normalizer, pre-tokenizer, model and frame. The kinds that are known
// have a file each in the folders beside this one; text/README.md has the list. A file with any
// other kind is refused by its name, since its ids would be wrong.
//
//   const absl::StatusOr<Tokenizer> tokenizer = Tokenizer::Load(json);
//   const absl::StatusOr<Encoding> row = tokenizer->Encode("Hello, world!", {.max_tokens = 512});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "text/normalize/normalizer.h"
#include "text/split/pre_tokenizer.h"
#include "text/subword/model.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/frame.h"
#include "text/tokenizer/growth_policy.h"

namespace mpsd::text {

inline constexpr size_t kMaxTokenizerBytes = 64 << 20;  // a larger tokenizer.json is refused
inline constexpr size_t kMaxTextBytes = 1 << 20;        // so is a larger text

struct EncodeOptions {
  enum class Side { kLeft, kRight };

  size_t max_tokens = SIZE_MAX;      // of the row, with the frame's; the rest is cut
  Side cut_side = Side::kRight;      // the end of each text that is cut
  bool adds_special_tokens = true;   // without it the frame is left out
  bool reads_special_tokens = true;  // without it "[SEP]" in a text is ordinary text
};

// A row of tokens.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<uint8_t> type_ids;  // as many: which of a pair's texts a token is of
  size_t cut_count = 0;           // tokens that did not fit
};

// What a tokenizer is made of; null parts leave a text as it is.
struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  Frame frame;
  std::vector<AddedToken> added_tokens;
};

// Constant after construction, so thread-safe: one is shared by all threads that encode. Movable.
// It reads no file. The truncation and padding of a tokenizer.json are not heeded: the caller of
// Encode() decides.
class Tokenizer {
 public:
  // Of the content of a tokenizer.json. INVALID_ARGUMENT names the part that is wrong or unknown.
  // Memory: some 20 times the JSON's bytes for the time of the call.
  static absl::StatusOr<Tokenizer> Load(absl::string_view json);

  // Of a vocab.txt of BERT's, a token in each line, which says nothing of the other parts: those of
  // BERT are taken, and BERT's five special tokens where the vocabulary has them. INVALID_ARGUMENT
  // where [CLS], [SEP] or [UNK] is missing, or the words are not UTF-8.
  static absl::StatusOr<Tokenizer> FromVocabulary(absl::string_view words, bool lowers_case);

  // INVALID_ARGUMENT: an added token is longer than kMaxTokenBytes, as it stands or once it is
  // normalized. REQUIRES: a model; ids of the frame and the added tokens that are its own or follow
  // them.
  static absl::StatusOr<Tokenizer> Make(TokenizerParts parts);

  // The tokens of a text. What is not UTF-8 becomes U+FFFD first (text/unicode/utf8.h).
  // INVALID_ARGUMENT: more than kMaxTextBytes, more than MostGrownBytes() once it is normalized or
  // in pieces, or a max_tokens smaller than the frame.
  absl::StatusOr<Encoding> Encode(absl::string_view text, const EncodeOptions& options) const;

  // The same of a pair, cut by KeepLongestFirst(); kMaxTextBytes holds for each text.
  absl::StatusOr<Encoding> EncodePair(absl::string_view first, absl::string_view second,
                                      const EncodeOptions& options) const;

  // The tokens of these ids as the vocabulary has them, "##able" or "▁a", added ones too; each
  // empty where there is none. Looks at the whole vocabulary: for people who look at tokens.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const;

  // What it puts around texts.
  const Frame& frame() const { return parts_.frame; }

  // The ids of all tokens, added ones included, are below.
  int32_t id_bound() const { return id_bound_; }

 private:
  Tokenizer(TokenizerParts parts, AddedTokens raw, AddedTokens normal);

  // Appends the tokens of one text, without frame and uncut.
  absl::Status AppendText(absl::string_view text, const EncodeOptions& options,
                          std::vector<int32_t>* ids) const;
  // Appends those of a part that has no raw added tokens. False where the room does not do.
  bool AppendSegment(absl::string_view text, const EncodeOptions& options, GrowthRoom* room,
                     std::vector<int32_t>* ids) const;
  // Appends those of a part that has no added tokens at all. False as above.
  bool AppendPlain(absl::string_view text, GrowthRoom* room, std::vector<int32_t>* ids) const;
  // Cuts the texts, whose tokens these are, and puts the frame around them.
  absl::StatusOr<Encoding> Join(std::vector<int32_t> first,
                                std::optional<std::vector<int32_t>> second,
                                const EncodeOptions& options) const;

  TokenizerParts parts_;
  AddedTokens raw_;     // looked for in the text as it comes
  AddedTokens normal_;  // looked for in the normal text
  int32_t id_bound_;
};

}  // namespace mpsd::text
