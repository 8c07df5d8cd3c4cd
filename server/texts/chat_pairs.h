// ChatPairs: the words that a reranker which was a chat model wants around a query and a document.
//
// Qwen3-Reranker is asked whether a document answers a query, in the form of a chat, and its next
// word would be "yes" or "no":
//
//   the judge's rules   <Instruct>: … <Query>: … <Document>: …   the answer's beginning
//   ╰── never cut ──╯   ╰────────── cut at its end ──────────╯   ╰──── never cut ────╯
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd {

// Part of a TextEncoder, and so of one generation. A value, constant after construction, so
// thread-safe.
class ChatPairs {
 public:
  // The words for the folder of the tokenizer at `path`; nothing if it has another model. The
  // folder's modules.json names LogitScore, or there is none and its config.json names
  // Qwen3ForCausalLM. The task is `instruction`; if that is empty, it is a web search. Errors of
  // ReadFileBeside() and of the tokenizer. Blocks for the reading. Thread-safe.
  static absl::StatusOr<std::optional<ChatPairs>> ReadBeside(const std::string& path,
                                                             const text::Tokenizer& tokenizer,
                                                             absl::string_view instruction);

  // The row of a pair. INVALID_ARGUMENT as Tokenizer::Encode(), also if a row has no room for the
  // words around. REQUIRES: the tokenizer of ReadBeside(). Pure.
  absl::StatusOr<text::Encoding> Encode(const text::Tokenizer& tokenizer, absl::string_view query,
                                        absl::string_view document,
                                        text::EncodeOptions options) const;

 private:
  ChatPairs() = default;

  std::string instruction_;
  std::vector<int32_t> before_;
  std::vector<int32_t> behind_;
};

}  // namespace mpsd
