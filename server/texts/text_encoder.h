// TextEncoder: one generation's tokenizer, and how its config wants texts to be cut.
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

// ModelFactory (server/models) makes it with a generation, on the thread that reloads, since
// reading a large tokenizer.json takes half a second. The generation and the requests whose texts
// it has encoded share it. A reload makes another one, even of an unchanged file. Constant, so
// thread-safe: any number of threads encode at a time. It knows no model and no transport.
//
// The operator's file is not trusted: Tokenizer::Load() bounds its bytes, values, depth and tokens,
// and refuses by name what it does not know. If that fails the model does not serve;
// ServedModel::texts keeps the reason.
//
// Encoding costs some 50 ms of processor time for each MiB, and blocks for nothing else. The caller
// chooses the thread, by kInlineTextBytes.
class TextEncoder {
 public:
  // Loads `policy.tokenizer`: a vocab.txt if its name ends in ".txt", else a tokenizer.json, with
  // the prompts beside it. Beside a modules.json of sentence-transformers before 5.4, texts lose
  // the whitespace at their ends, as in that tool. Errors are those of ReadRegularFile(),
  // letter_case, Tokenizer, ReadFileBeside() and ReadPromptsBeside(); they name the path and are
  // for operators. Blocks for the reading. REQUIRES: the policy names a path.
  static absl::StatusOr<std::shared_ptr<const TextEncoder>> Load(const TextPolicy& policy);

  // With `strips`, whitespace at the ends of a text gives no tokens.
  TextEncoder(text::Tokenizer tokenizer, TextPolicy policy, bool strips = false,
              Prompts prompts = {}, std::optional<ChatPairs> chat_pairs = std::nullopt)
      : tokenizer_(std::move(tokenizer)),
        policy_(std::move(policy)),
        strips_(strips),
        prompts_(std::move(prompts)),
        chat_pairs_(std::move(chat_pairs)) {}

  // The caller puts one of these in front of a text, but not of a pair, before encoding.
  const Prompts& prompts() const { return prompts_; }

  // The row of a text, or of a pair, of at most `most_tokens` tokens, or fewer if the policy says
  // so. INVALID_ARGUMENT, for the client: a text is larger than text::kMaxTextBytes, has no tokens,
  // or has too many while the policy cuts none. The same if the special tokens alone exceed a row,
  // or if a model of ChatPairs is sent no pair.
  //
  // The `wishes` override the policy. IsTooLong() recognizes a refusal for the number of tokens.
  absl::StatusOr<text::Encoding> Encode(absl::string_view text,
                                        std::optional<absl::string_view> pair, size_t most_tokens,
                                        const TextWishes& wishes = {}) const;

  // All tokens of a text, with or without the frame's, whatever its length. INVALID_ARGUMENT if the
  // text is larger than text::kMaxTextBytes.
  absl::StatusOr<text::Encoding> Tokenize(absl::string_view text, bool adds_special) const;

  // The vocabulary's tokens for these ids; empty for an unknown id. Takes some milliseconds with a
  // large vocabulary.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const {
    return tokenizer_.TokensOf(ids);
  }

  // All token ids are below this.
  int32_t id_bound() const { return tokenizer_.id_bound(); }
  const TextPolicy& policy() const { return policy_; }
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
};

}  // namespace mpsd
