// ChatPairs: the words around query and document, for a reranker that was a chat model.
//
// Qwen3-Reranker is asked whether a document answers a query, in a chat whose next word is "yes" or
// "no":
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

// Part of a TextEncoder. Constant, so thread-safe.
class ChatPairs {
 public:
  // Nothing if the folder of the tokenizer at `path` has another model. Its modules.json must name
  // LogitScore, or without one its config.json Qwen3ForCausalLM. The task is `instruction`, or if
  // empty a web search. Errors of ReadFileBeside() and the tokenizer. Blocks for the reading.
  // Thread-safe.
  static absl::StatusOr<std::optional<ChatPairs>> ReadBeside(const std::string& path,
                                                             const text::Tokenizer& tokenizer,
                                                             absl::string_view instruction);

  // INVALID_ARGUMENT as Tokenizer::Encode(), also if the words around leave no room. REQUIRES: the
  // tokenizer of ReadBeside(). Pure.
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
