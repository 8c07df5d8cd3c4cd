#include "server/texts/chat_pairs.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/texts/file_beside.h"

namespace mpsd {
namespace {

// The model was trained with these.
constexpr absl::string_view kBefore =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n";
constexpr absl::string_view kBehind = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
constexpr absl::string_view kWebSearch =
    "Given a web search query, retrieve relevant passages that answer the query";

absl::StatusOr<bool> IsChatReranker(const std::string& path) {
  const absl::StatusOr<std::string> steps = ReadFileBeside(path, "modules.json", kMaxSettingsBytes);
  if (!steps.ok()) return steps.status();
  if (!steps->empty()) return absl::StrContains(*steps, ".LogitScore\"");
  const absl::StatusOr<std::string> config = ReadFileBeside(path, "config.json", kMaxSettingsBytes);
  if (!config.ok()) return config.status();
  return absl::StrContains(*config, "\"Qwen3ForCausalLM\"");
}

}  // namespace

absl::StatusOr<std::optional<ChatPairs>> ChatPairs::ReadBeside(const std::string& path,
                                                               const text::Tokenizer& tokenizer,
                                                               absl::string_view instruction) {
  const absl::StatusOr<bool> is_reranker = IsChatReranker(path);
  if (!is_reranker.ok()) return is_reranker.status();
  if (!*is_reranker) return std::nullopt;
  text::EncodeOptions plain;
  plain.adds_special_tokens = false;
  absl::StatusOr<text::Encoding> before = tokenizer.Encode(kBefore, plain);
  if (!before.ok()) return before.status();
  absl::StatusOr<text::Encoding> behind = tokenizer.Encode(kBehind, plain);
  if (!behind.ok()) return behind.status();
  ChatPairs pairs;
  pairs.instruction_ = std::string(instruction.empty() ? kWebSearch : instruction);
  pairs.before_ = std::move(before->ids);
  pairs.behind_ = std::move(behind->ids);
  return pairs;
}

absl::StatusOr<text::Encoding> ChatPairs::Encode(const text::Tokenizer& tokenizer,
                                                 absl::string_view query,
                                                 absl::string_view document,
                                                 text::EncodeOptions options) const {
  const size_t around = before_.size() + behind_.size();
  if (options.max_tokens <= around) {
    return absl::InvalidArgumentError(absl::StrCat("the words around a pair are ", around,
                                                   " tokens, but a row has at most ",
                                                   options.max_tokens));
  }
  options.max_tokens -= around;
  options.adds_special_tokens = false;
  absl::StatusOr<text::Encoding> row = tokenizer.Encode(
      absl::StrCat("<Instruct>: ", instruction_, "\n<Query>: ", query, "\n<Document>: ", document),
      options);
  if (!row.ok()) return row;
  row->ids.insert(row->ids.begin(), before_.begin(), before_.end());
  row->ids.insert(row->ids.end(), behind_.begin(), behind_.end());
  row->type_ids.assign(row->ids.size(), 0);
  return row;
}

}  // namespace mpsd
