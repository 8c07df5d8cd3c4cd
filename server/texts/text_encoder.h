// TextEncoder: the tokenizer of one generation, and how its config wants texts to be cut.
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
#include "server/texts/prompts.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd {

// Made with a generation by ModelFactory (server/place), on the thread that reloads, since reading
// a large tokenizer.json takes half a second; shared by the generation and by the requests whose
// texts it has encoded. A reload makes another one, also of an unchanged file. Constant, so
// thread-safe: any number of threads encode at a time. It knows no model and no transport.
//
// The file is one of the operator's, and still not believed: Tokenizer::Load() bounds its bytes,
// values, depth and tokens, and refuses by name what it does not know. Where that fails the model
// does not serve (ModelFactory): ServedModel::texts keeps the reason.
//
// Encoding costs some 50 ms of processor time for each MiB, and blocks for nothing else. The caller
// decides on which thread, by kInlineTextBytes.
class TextEncoder {
 public:
  // Of `policy.tokenizer`: a vocab.txt where its name ends in ".txt", else a tokenizer.json. Beside
  // a modules.json of sentence-transformers before 5.4 texts lose the whitespace at their ends, as
  // that tool takes it off. The prompts are those beside it. Errors are those of
  // ReadRegularFile(), letter_case, Tokenizer, ReadFileBeside() and ReadPromptsBeside(); they name
  // the path and are for operators. Blocks for the reading. REQUIRES: the policy names a path.
  static absl::StatusOr<std::shared_ptr<const TextEncoder>> Load(const TextPolicy& policy);

  // With `strips`, whitespace at the ends of a text is none of its tokens.
  TextEncoder(text::Tokenizer tokenizer, TextPolicy policy, bool strips = false,
              Prompts prompts = {})
      : tokenizer_(std::move(tokenizer)),
        policy_(std::move(policy)),
        strips_(strips),
        prompts_(std::move(prompts)) {}

  // What the caller puts in front of a text, where it is none of a pair, before it encodes it.
  const Prompts& prompts() const { return prompts_; }

  // The row of a text, or of a pair of texts, of at most `most_tokens` tokens, or fewer where the
  // policy says so. INVALID_ARGUMENT, which is for the client: a text is larger than
  // text::kMaxTextBytes, has too many tokens where the policy cuts none, or has none at all; or the
  // special tokens alone are more than a row may have.
  //
  // What `wishes` say goes before the policy. A refusal for the count of tokens IsTooLong().
  absl::StatusOr<text::Encoding> Encode(absl::string_view text,
                                        std::optional<absl::string_view> pair, size_t most_tokens,
                                        const TextWishes& wishes = {}) const;

  // All tokens of a text, with the frame's or without, whatever the policy says of its length.
  // INVALID_ARGUMENT: it is larger than text::kMaxTextBytes.
  absl::StatusOr<text::Encoding> Tokenize(absl::string_view text, bool adds_special) const;

  // The tokens of these ids as the vocabulary has them; each empty where it has none. Takes some
  // milliseconds where the vocabulary is large.
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const {
    return tokenizer_.TokensOf(ids);
  }

  // The ids of its tokens are below.
  int32_t id_bound() const { return tokenizer_.id_bound(); }
  const TextPolicy& policy() const { return policy_; }
  const text::Frame& frame() const { return tokenizer_.frame(); }

 private:
  absl::string_view Stripped(absl::string_view text) const;

  const text::Tokenizer tokenizer_;
  const TextPolicy policy_;
  const bool strips_;
  const Prompts prompts_;
};

}  // namespace mpsd
