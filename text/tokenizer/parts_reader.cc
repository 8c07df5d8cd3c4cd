#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "text/subword/vocabulary_trie.h"
#include "text/tokenizer/fields.h"
#include "text/tokenizer/part_readers.h"

namespace mpsd::text {
namespace {

absl::StatusOr<AddedToken> ReadAddedToken(const Json& json) {
  Fields fields(json, "added_tokens");
  AddedToken token;
  token.id = static_cast<int32_t>(fields.Number("id", -1, 0, kMaxTokens * 2));
  token.content = fields.Text("content", "");
  token.special = fields.Flag("special", false);
  token.single_word = fields.Flag("single_word", false);
  token.lstrip = fields.Flag("lstrip", false);
  token.rstrip = fields.Flag("rstrip", false);
  token.normalized = fields.Flag("normalized", !token.special);
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return token;
}

// Accepts only the ids that the reference would give: the model's, else the next free one.
absl::Status CheckIds(const std::vector<AddedToken>& tokens, const Model& model) {
  int32_t next = model.size();
  absl::flat_hash_map<absl::string_view, int32_t> seen;
  for (const AddedToken& token : tokens) {
    const int32_t known = model.Find(token.content);
    const int32_t id = known >= 0 ? known : next;
    if (token.id != id) {
      return PartError("added_tokens", absl::StrCat("'", token.content, "' has the id ", token.id,
                                                    ", but ", id, " is its place"));
    }
    if (!seen.emplace(token.content, id).second) {
      return PartError("added_tokens", absl::StrCat("'", token.content, "' is there twice"));
    }
    next = std::max(next, id + 1);
  }
  return absl::OkStatus();
}

// An id without a token would lie beyond the model's table of words.
absl::Status CheckFrame(const TokenizerParts& parts) {
  absl::flat_hash_set<int32_t> ids;
  for (const AddedToken& token : parts.added_tokens) ids.insert(token.id);
  for (const std::vector<FramePart>* of_texts : {&parts.frame.single, &parts.frame.pair}) {
    for (const FramePart& part : *of_texts) {
      if (part.kind != FramePart::Kind::kId) continue;
      if (part.id < parts.model->size() || ids.contains(part.id)) continue;
      return PartError("post_processor", absl::StrCat("the id ", part.id, " is no token's"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAddedTokens(const Json& json, TokenizerParts* parts) {
  if (!json.is_array()) return PartError("added_tokens", "it must be an array");
  if (json.size() > kMaxAddedTokens) return PartError("added_tokens", "there are too many");
  for (const Json& one : json) {
    absl::StatusOr<AddedToken> token = ReadAddedToken(one);
    if (!token.ok()) return token.status();
    parts->added_tokens.push_back(*std::move(token));
  }
  return CheckIds(parts->added_tokens, *parts->model);
}

// Null leaves `part` alone.
template <class Part>
absl::Status ReadInto(const Json* json, absl::StatusOr<Part> (*read)(const Json&), Part* part) {
  if (json == nullptr) return absl::OkStatus();
  absl::StatusOr<Part> made = read(*json);
  if (made.ok()) *part = *std::move(made);
  return made.status();
}

}  // namespace

absl::StatusOr<TokenizerParts> ReadParts(absl::string_view text) {
  TokenizerDocument document;
  absl::Status status = ParseDocument(text, "tokenizer.json", &document);
  if (!status.ok()) return status;
  Fields fields(document.parts, "tokenizer.json");
  if (fields.Text("version", "1.0") != "1.0") fields.Complain("its version must be 1.0");
  for (const char* unused : {"truncation", "padding", "decoder"}) fields.Find(unused);
  const Json* model = fields.Need("model");
  const Json* normalizer = fields.Find("normalizer");
  const Json* pre_tokenizer = fields.Find("pre_tokenizer");
  const Json* frame = fields.Find("post_processor");
  const Json* added_tokens = fields.Find("added_tokens");
  status = fields.Finish();
  if (!status.ok()) return status;
  TokenizerParts parts;
  absl::StatusOr<std::unique_ptr<Model>> made = ReadModel(*model, document);
  status = made.status();
  if (status.ok()) parts.model = *std::move(made);
  if (status.ok()) status = ReadInto(normalizer, ReadNormalizer, &parts.normalizer);
  if (status.ok()) status = ReadInto(pre_tokenizer, ReadPreTokenizer, &parts.pre_tokenizer);
  if (status.ok()) status = ReadInto(frame, ReadFrame, &parts.frame);
  if (status.ok() && added_tokens != nullptr) status = ReadAddedTokens(*added_tokens, &parts);
  if (status.ok()) status = CheckFrame(parts);
  if (!status.ok()) return status;
  return parts;
}

}  // namespace mpsd::text
