// Tokenizer: turns text into the ids of its tokens, exactly as the library `tokenizers` does.
//
//   text ─▶ added tokens ─▶ normalizer ─▶ added tokens ─▶ pre-tokenizer ─▶ model
//        ─▶ cut ─▶ frame ─▶ ids
//
// A file with an unknown kind of part (text/README.md) is refused, since its ids would be wrong.
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
inline constexpr size_t kMaxTextBytes = 1 << 20;

inline constexpr size_t kMaxGrownBytes = 4 << 20;

// Bounds the normal form of a text of `size` bytes, and its pieces. Unicode's steps make a
// character at most eleven times as long, and visible bytes double that. Pure.
inline size_t MostGrownBytes(size_t size) { return std::min(kMaxGrownBytes, size * 32 + 4096); }

// The parts of a text between added tokens share this room.
struct GrowthRoom {
  explicit GrowthRoom(size_t size) : normal(MostGrownBytes(size)), pieces(normal) {}

  size_t normal;  // bytes of normal forms
  size_t pieces;
};

struct EncodeOptions {
  enum class Side { kLeft, kRight };

  size_t max_tokens = SIZE_MAX;      // the frame counts too; the rest is cut
  Side cut_side = Side::kRight;      // end at which each text is cut
  bool adds_special_tokens = true;   // false: no frame
  bool reads_special_tokens = true;  // false: "[SEP]" is ordinary text
};

struct Encoding {
  std::vector<int32_t> ids;
  std::vector<uint8_t> type_ids;  // as many: the text of the pair that a token belongs to
  size_t cut_count = 0;           // tokens that did not fit
};

// A null part leaves a text as it is.
struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  Frame frame;
  std::vector<AddedToken> added_tokens;
};

// Constant after construction, so thread-safe. Movable. Ignores a tokenizer.json's truncation and
// padding: the caller of Encode() decides.
class Tokenizer {
 public:
  // Reads a tokenizer.json. INVALID_ARGUMENT names a wrong or unknown part. Takes some 20 times the
  // JSON's bytes meanwhile.
  static absl::StatusOr<Tokenizer> Load(absl::string_view json);

  // Reads BERT's vocab.txt, a token in each line, and uses BERT's other parts. INVALID_ARGUMENT if
  // [CLS], [SEP] or [UNK] is missing, or the words are not UTF-8.
  static absl::StatusOr<Tokenizer> FromVocabulary(absl::string_view words, bool lowers_case);

  // INVALID_ARGUMENT: an added token is longer than kMaxTokenBytes, as written or normalized.
  // REQUIRES: a model; ids of frame and added tokens are the model's own or follow them.
  static absl::StatusOr<Tokenizer> Make(TokenizerParts parts);

  // Invalid UTF-8 becomes U+FFFD. INVALID_ARGUMENT beyond kMaxTextBytes or MostGrownBytes(), and
  // for a max_tokens smaller than the frame.
  absl::StatusOr<Encoding> Encode(absl::string_view text, const EncodeOptions& options) const;

  // Cuts by KeepLongestFirst(). Each text has Encode()'s bounds.
  absl::StatusOr<Encoding> EncodePair(absl::string_view first, absl::string_view second,
                                      const EncodeOptions& options) const;

  // Looks at the whole vocabulary: for people. Unknown ids give empty texts.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const;

  const Frame& frame() const { return parts_.frame; }

  // All ids are below, added ones included.
  int32_t id_bound() const { return id_bound_; }

 private:
  Tokenizer(TokenizerParts parts, AddedTokens raw, AddedTokens normal);

  absl::Status AppendText(absl::string_view text, const EncodeOptions& options,
                          std::vector<int32_t>* ids) const;
  // The part has no raw added tokens. False if the room does not suffice.
  bool AppendSegment(absl::string_view text, const EncodeOptions& options, GrowthRoom* room,
                     std::vector<int32_t>* ids) const;
  // The part has no added tokens. False as above.
  bool AppendPlain(absl::string_view text, GrowthRoom* room, std::vector<int32_t>* ids) const;
  absl::StatusOr<Encoding> Join(std::vector<int32_t> first,
                                std::optional<std::vector<int32_t>> second,
                                const EncodeOptions& options) const;

  TokenizerParts parts_;
  AddedTokens raw_;     // found in the original text
  AddedTokens normal_;  // found in the normal text
  int32_t id_bound_;
};

}  // namespace mpsd::text
