// Tokenizer: turns text into the ids of its tokens, exactly as the library `tokenizers` does.
//
//   text ─▶ added tokens ─▶ normalizer ─▶ added tokens ─▶ pre-tokenizer ─▶ model
//        ─▶ cut ─▶ frame ─▶ ids
//
// A tokenizer.json names normalizer, pre-tokenizer, model and frame. Known kinds have a file each
// in the neighbouring folders; text/README.md lists them. A file with any other kind is refused by
// its name, since its ids would be wrong.
//
//   const absl::StatusOr<Tokenizer> tokenizer = Tokenizer::Load(json);
//   const absl::StatusOr<Encoding> row = tokenizer->Encode("Hello, world!", {.max_tokens = 512});
#pragma once

#include <algorithm>
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

namespace mpsd::text {

inline constexpr size_t kMaxTokenizerBytes = 64 << 20;  // a larger tokenizer.json is refused
inline constexpr size_t kMaxTextBytes = 1 << 20;        // a larger text is refused too

inline constexpr size_t kMaxGrownBytes = 4 << 20;

// Limit of bytes for a text of `size` bytes in its normal form, and again as pieces. Unicode's
// steps make a character at most eleven times as long, and visible bytes double that. A
// tokenizer.json with steps beyond that wants memory and no tokens. Pure.
inline size_t MostGrownBytes(size_t size) { return std::min(kMaxGrownBytes, size * 32 + 4096); }

// One text's remaining room. A text is cut by its added tokens; its parts share this.
struct GrowthRoom {
  explicit GrowthRoom(size_t size) : normal(MostGrownBytes(size)), pieces(normal) {}

  size_t normal;  // bytes of normal forms
  size_t pieces;  // bytes of pieces
};

struct EncodeOptions {
  enum class Side { kLeft, kRight };

  size_t max_tokens = SIZE_MAX;      // limit of the row, with the frame; the rest is cut
  Side cut_side = Side::kRight;      // end at which each text is cut
  bool adds_special_tokens = true;   // false: no frame
  bool reads_special_tokens = true;  // false: "[SEP]" in a text is ordinary text
};

// A row of tokens.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<uint8_t> type_ids;  // as many: the text of the pair that a token belongs to
  size_t cut_count = 0;           // tokens that did not fit
};

// A tokenizer's parts; null ones leave a text as it is.
struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  Frame frame;
  std::vector<AddedToken> added_tokens;
};

// Constant after construction, so thread-safe: all encoding threads share one. Movable. Reads no
// file. Ignores a tokenizer.json's truncation and padding: the caller of Encode() decides.
class Tokenizer {
 public:
  // Loads the content of a tokenizer.json. INVALID_ARGUMENT names a wrong or unknown part. During
  // the call, memory is some 20 times the JSON's bytes.
  static absl::StatusOr<Tokenizer> Load(absl::string_view json);

  // Loads BERT's vocab.txt, a token in each line. It says nothing of the other parts, so BERT's are
  // used, with BERT's five special tokens if the vocabulary has them. INVALID_ARGUMENT if [CLS],
  // [SEP] or [UNK] is missing, or the words are not UTF-8.
  static absl::StatusOr<Tokenizer> FromVocabulary(absl::string_view words, bool lowers_case);

  // INVALID_ARGUMENT: an added token is longer than kMaxTokenBytes, as written or normalized.
  // REQUIRES: a model; ids of the frame and the added tokens that are the model's own or follow
  // them.
  static absl::StatusOr<Tokenizer> Make(TokenizerParts parts);

  // A text's tokens. Invalid UTF-8 first becomes U+FFFD (text/unicode/utf8.h). INVALID_ARGUMENT for
  // more than kMaxTextBytes, or more than MostGrownBytes() once normalized or in pieces. The same
  // for a max_tokens smaller than the frame.
  absl::StatusOr<Encoding> Encode(absl::string_view text, const EncodeOptions& options) const;

  // The same for a pair, cut by KeepLongestFirst(); kMaxTextBytes applies to each text.
  absl::StatusOr<Encoding> EncodePair(absl::string_view first, absl::string_view second,
                                      const EncodeOptions& options) const;

  // The vocabulary's tokens for these ids, "##able" or "▁a", added ones included; empty for unknown
  // ids. Looks at the whole vocabulary: for people who look at tokens.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const;

  // The frame that it puts around texts.
  const Frame& frame() const { return parts_.frame; }

  // All token ids, added ones included, are below.
  int32_t id_bound() const { return id_bound_; }

 private:
  Tokenizer(TokenizerParts parts, AddedTokens raw, AddedTokens normal);

  // Appends one text's tokens, uncut and without the frame.
  absl::Status AppendText(absl::string_view text, const EncodeOptions& options,
                          std::vector<int32_t>* ids) const;
  // The same for a part without raw added tokens. False if the room does not suffice.
  bool AppendSegment(absl::string_view text, const EncodeOptions& options, GrowthRoom* room,
                     std::vector<int32_t>* ids) const;
  // The same for a part without any added tokens. False as above.
  bool AppendPlain(absl::string_view text, GrowthRoom* room, std::vector<int32_t>* ids) const;
  // Cuts the texts with these tokens, and puts the frame around them.
  absl::StatusOr<Encoding> Join(std::vector<int32_t> first,
                                std::optional<std::vector<int32_t>> second,
                                const EncodeOptions& options) const;

  TokenizerParts parts_;
  AddedTokens raw_;     // searched in the original text
  AddedTokens normal_;  // searched in the normal text
  int32_t id_bound_;
};

}  // namespace mpsd::text
