// TextEncoder: a generation's tokenizer, and how texts are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/text_policy.h"
#include "server/texts/chat_pairs.h"
#include "server/texts/prompts.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd {

// Made with a generation, on the thread that reloads, since a large tokenizer.json takes half a
// second. Shared by the generation and the requests that it has encoded. Thread-safe: constant.
//
// The operator's file is not trusted: Tokenizer::Load() bounds it, and refuses by name what it does
// not know. ServedModel::texts then keeps the reason, and the model does not serve.
class TextEncoder {
 public:
  // Loads `policy.tokenizer`, a vocab.txt if the name ends in ".txt", else a tokenizer.json, with
  // the prompts beside it. INVALID_ARGUMENT if a vocab.txt's folder names another class or adds
  // tokens. As in sentence-transformers before 5.4, a modules.json of that age has texts lose the
  // whitespace at their ends. As in transformers, all types are 0 if `model_input_names` in
  // tokenizer_config.json lacks `token_type_ids`, and its `truncation_side` is the end that is cut
  // unless the policy says one. Errors of ReadRegularFile(), letter_case,
  // Tokenizer, ReadFileBeside() and ReadPromptsBeside() name the path and are for operators.
  // Blocks for the reading. REQUIRES: the policy names a path.
  static absl::StatusOr<std::shared_ptr<const TextEncoder>> Load(const TextPolicy& policy);

  // `strips`: whitespace at a text's ends gives no tokens. `names_types`: a row of Encode() tells
  // the texts of a pair apart.
  TextEncoder(text::Tokenizer tokenizer, TextPolicy policy, bool strips = false,
              Prompts prompts = {}, std::optional<ChatPairs> chat_pairs = std::nullopt,
              bool names_types = true)
      : tokenizer_(std::move(tokenizer)),
        policy_(std::move(policy)),
        strips_(strips),
        prompts_(std::move(prompts)),
        chat_pairs_(std::move(chat_pairs)),
        names_types_(names_types) {}

  // The caller puts one in front of a text, but not of a pair.
  const Prompts& prompts() const { return prompts_; }

  // The row of a text or pair. `most_tokens` may be lowered by the policy, which `wishes` override.
  // INVALID_ARGUMENT, for the client: a text is larger than text::kMaxTextBytes, has no tokens, or
  // has too many where none are cut (IsTooLong()). The same if the special tokens alone exceed a
  // row, or if a model of ChatPairs is sent no pair.
  absl::StatusOr<text::Encoding> Encode(absl::string_view text,
                                        std::optional<absl::string_view> pair, size_t most_tokens,
                                        const TextWishes& wishes = {}) const;

  // All tokens, with or without the frame's. INVALID_ARGUMENT if the text is larger than
  // text::kMaxTextBytes.
  absl::StatusOr<text::Encoding> Tokenize(absl::string_view text, bool adds_special) const;

  // Empty for an unknown id. Takes some milliseconds with a large vocabulary.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const {
    return tokenizer_.TokensOf(ids);
  }

  int32_t id_bound() const { return tokenizer_.id_bound(); }
  const TextPolicy& policy() const { return policy_; }
  TextSide cut_side() const { return policy_.cut_side.value_or(TextSide::kRight); }
  const text::Frame& frame() const { return tokenizer_.frame(); }

 private:
  absl::string_view Stripped(absl::string_view text) const;
  absl::StatusOr<text::Encoding> RowOf(absl::string_view text,
                                       std::optional<absl::string_view> pair,
                                       const text::EncodeOptions& options) const;

  const text::Tokenizer tokenizer_;
  const TextPolicy policy_;
  const bool strips_;
  const Prompts prompts_;
  const std::optional<ChatPairs> chat_pairs_;
  const bool names_types_;
};

}  // namespace mpsd
