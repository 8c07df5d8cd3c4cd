// Tokenizer: turns text into the ids of its tokens, exactly as the library `tokenizers` does.
//
//   text ─▶ added tokens ─▶ normalizer ─▶ added tokens ─▶ pre-tokenizer ─▶ model
//        ─▶ cut ─▶ frame ─▶ ids
//
// text/README.md lists the known kinds of parts. A file with another kind is refused by its name,
// since its ids would be wrong.
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

inline constexpr size_t kMaxTokenizerBytes = 64 << 20;  // larger files are refused
inline constexpr size_t kMaxTextBytes = 1 << 20;        // larger texts too

inline constexpr size_t kMaxGrownBytes = 4 << 20;

// For a text of `size` bytes in its normal form, and again as pieces. Unicode's steps make a
// character at most eleven times as long, and visible bytes double that. Pure.
inline size_t MostGrownBytes(size_t size) { return std::min(kMaxGrownBytes, size * 32 + 4096); }

// A text's parts between added tokens share it.
struct GrowthRoom {
  explicit GrowthRoom(size_t size) : normal(MostGrownBytes(size)), pieces(normal) {}

  size_t normal;  // in bytes
  size_t pieces;  // in bytes
};

struct EncodeOptions {
  enum class Side { kLeft, kRight };

  size_t max_tokens = SIZE_MAX;      // with the frame; the rest is cut
  Side cut_side = Side::kRight;      // each text is cut there
  bool adds_special_tokens = true;   // false: no frame
  bool reads_special_tokens = true;  // false: "[SEP]" is ordinary text
};

// A row.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<uint8_t> type_ids;  // for each token: the pair's text
  size_t cut_count = 0;           // tokens that did not fit
};

// Null parts leave a text as it is.
struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  Frame frame;
  std::vector<AddedToken> added_tokens;
};

// Constant after construction, so thread-safe: all threads share one. Movable. Ignores a
// tokenizer.json's truncation and padding: the caller of Encode() decides.
class Tokenizer {
 public:
  // From a tokenizer.json. INVALID_ARGUMENT names a wrong or unknown part. Takes some 20 times the
  // JSON's bytes meanwhile.
  static absl::StatusOr<Tokenizer> Load(absl::string_view json);

  // From BERT's vocab.txt, a token in each line, with BERT's other parts, and its five special
  // tokens as far as they are there. INVALID_ARGUMENT if [CLS], [SEP] or [UNK] is missing, or the
  // words are not UTF-8.
  static absl::StatusOr<Tokenizer> FromVocabulary(absl::string_view words, bool lowers_case);

  // INVALID_ARGUMENT: an added token is longer than kMaxTokenBytes, as written or normalized.
  // REQUIRES: a model; ids of frame and added tokens are the model's own or follow them.
  static absl::StatusOr<Tokenizer> Make(TokenizerParts parts);

  // Invalid UTF-8 becomes U+FFFD. INVALID_ARGUMENT beyond kMaxTextBytes, or MostGrownBytes() once
  // normalized or in pieces, and for a max_tokens smaller than the frame.
  absl::StatusOr<Encoding> Encode(absl::string_view text, const EncodeOptions& options) const;

  // Cut by KeepLongestFirst(). Each text has the bounds of Encode().
  absl::StatusOr<Encoding> EncodePair(absl::string_view first, absl::string_view second,
                                      const EncodeOptions& options) const;

  // "##able" or "▁a", added ones included; empty for unknown ids. For people: looks at the whole
  // vocabulary.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const;

  const Frame& frame() const { return parts_.frame; }

  // All ids are below, added ones included.
  int32_t id_bound() const { return id_bound_; }

 private:
  Tokenizer(TokenizerParts parts, AddedTokens raw, AddedTokens normal);

  // Uncut and without the frame.
  absl::Status AppendText(absl::string_view text, const EncodeOptions& options,
                          std::vector<int32_t>* ids) const;
  // For a part without raw added tokens. False: the room does not suffice.
  bool AppendSegment(absl::string_view text, const EncodeOptions& options, GrowthRoom* room,
                     std::vector<int32_t>* ids) const;
  // For a part without any added tokens. False as above.
  bool AppendPlain(absl::string_view text, GrowthRoom* room, std::vector<int32_t>* ids) const;
  // Cuts, and puts the frame around.
  absl::StatusOr<Encoding> Join(std::vector<int32_t> first,
                                std::optional<std::vector<int32_t>> second,
                                const EncodeOptions& options) const;

  TokenizerParts parts_;
  AddedTokens raw_;     // in the original text
  AddedTokens normal_;  // in the normal text
  int32_t id_bound_;
};

}  // namespace mpsd::text
