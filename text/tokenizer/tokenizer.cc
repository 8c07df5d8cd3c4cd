#include "text/tokenizer/tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "text/subword/vocabulary_trie.h"
#include "text/tokenizer/part_readers.h"
#include "text/tokenizer/truncation_policy.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

// Keeps `kept` ids, and counts the others.
void CutTo(size_t kept, EncodeOptions::Side side, std::vector<int32_t>* ids, size_t* cut_count) {
  const size_t cut = ids->size() - kept;
  *cut_count += cut;
  const auto begin =
      side == EncodeOptions::Side::kLeft ? ids->begin() : ids->end() - static_cast<int64_t>(cut);
  ids->erase(begin, begin + static_cast<int64_t>(cut));
}

void AppendAll(const std::vector<int32_t>& ids, uint8_t type_id, Encoding* encoding) {
  encoding->ids.insert(encoding->ids.end(), ids.begin(), ids.end());
  encoding->type_ids.insert(encoding->type_ids.end(), ids.size(), type_id);
}

// A file may have thousands of tokens, so each is checked before the next one is made.
absl::Status Normalize(const Normalizer* normalizer, AddedToken* token) {
  bool is_short = token->content.size() <= kMaxTokenBytes;
  if (is_short && token->normalized && normalizer != nullptr) {
    std::string content;
    is_short = normalizer->Append(token->content, kMaxTokenBytes, &content);
    token->content = std::move(content);
  }
  if (is_short) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the added token ", token->id, " has more than ", kMaxTokenBytes, " bytes"));
}

}  // namespace

absl::StatusOr<Tokenizer> Tokenizer::Load(absl::string_view json) {
  absl::StatusOr<TokenizerParts> parts = ReadParts(json);
  if (!parts.ok()) return parts.status();
  return Make(*std::move(parts));
}

absl::StatusOr<Tokenizer> Tokenizer::Make(TokenizerParts parts) {
  MPSD_CHECK(parts.model != nullptr);
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normal;
  for (AddedToken token : parts.added_tokens) {
    if (absl::Status status = Normalize(parts.normalizer.get(), &token); !status.ok()) {
      return status;
    }
    (token.normalized ? normal : raw).push_back(std::move(token));
  }
  absl::StatusOr<AddedTokens> raw_tokens = AddedTokens::Make(std::move(raw));
  if (!raw_tokens.ok()) return raw_tokens.status();
  absl::StatusOr<AddedTokens> normal_tokens = AddedTokens::Make(std::move(normal));
  if (!normal_tokens.ok()) return normal_tokens.status();
  return Tokenizer(std::move(parts), *std::move(raw_tokens), *std::move(normal_tokens));
}

Tokenizer::Tokenizer(TokenizerParts parts, AddedTokens raw, AddedTokens normal)
    : parts_(std::move(parts)), raw_(std::move(raw)), normal_(std::move(normal)) {
  id_bound_ = parts_.model->id_bound();
  for (const AddedToken& token : parts_.added_tokens) id_bound_ = std::max(id_bound_, token.id + 1);
}

std::vector<std::string> Tokenizer::TokensOf(absl::Span<const int32_t> ids) const {
  std::vector<std::string> tokens = parts_.model->TokensOf(ids);
  absl::flat_hash_map<int32_t, absl::string_view> added;
  for (const AddedToken& token : parts_.added_tokens) added[token.id] = token.content;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto found = added.find(ids[i]);
    if (found != added.end()) tokens[i] = std::string(found->second);
  }
  return tokens;
}

absl::StatusOr<Encoding> Tokenizer::Encode(absl::string_view text,
                                           const EncodeOptions& options) const {
  std::vector<int32_t> ids;
  const absl::Status status = AppendText(text, options, &ids);
  if (!status.ok()) return status;
  return Join(std::move(ids), std::nullopt, options);
}

absl::StatusOr<Encoding> Tokenizer::EncodePair(absl::string_view first, absl::string_view second,
                                               const EncodeOptions& options) const {
  std::vector<int32_t> first_ids;
  std::vector<int32_t> second_ids;
  absl::Status status = AppendText(first, options, &first_ids);
  status.Update(AppendText(second, options, &second_ids));
  if (!status.ok()) return status;
  return Join(std::move(first_ids), std::move(second_ids), options);
}

absl::Status Tokenizer::AppendText(absl::string_view text, const EncodeOptions& options,
                                   std::vector<int32_t>* ids) const {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", text.size(), " bytes, more than ", kMaxTextBytes));
  }
  std::string storage;
  const absl::string_view valid = ValidUtf8(text, &storage);
  GrowthRoom room(valid.size());
  std::vector<AddedTokens::Part> parts;
  raw_.Cut(valid, options.reads_special_tokens, &parts);
  for (const AddedTokens::Part& part : parts) {
    if (part.id >= 0) {
      ids->push_back(part.id);
    } else if (!AppendSegment(valid.substr(part.begin, part.end - part.begin), options, &room,
                              ids)) {
      return absl::InvalidArgumentError(absl::StrCat("the text becomes more than ",
                                                     MostGrownBytes(valid.size()),
                                                     " bytes once it is normalized"));
    }
  }
  return absl::OkStatus();
}

bool Tokenizer::AppendSegment(absl::string_view text, const EncodeOptions& options,
                              GrowthRoom* room, std::vector<int32_t>* ids) const {
  std::string normalized;
  if (parts_.normalizer != nullptr) {
    if (!parts_.normalizer->Append(text, room->normal, &normalized)) return false;
    room->normal -= normalized.size();
    text = normalized;
  }
  std::vector<AddedTokens::Part> parts;
  normal_.Cut(text, options.reads_special_tokens, &parts);
  for (const AddedTokens::Part& part : parts) {
    if (part.id >= 0) {
      ids->push_back(part.id);
    } else if (!AppendPlain(text.substr(part.begin, part.end - part.begin), room, ids)) {
      return false;
    }
  }
  return true;
}

bool Tokenizer::AppendPlain(absl::string_view text, GrowthRoom* room,
                            std::vector<int32_t>* ids) const {
  Pieces whole;
  whole.bytes.assign(text.data(), text.size());
  whole.Add(0, text.size());
  if (parts_.pre_tokenizer == nullptr) {
    parts_.model->Append(whole, ids);
    return true;
  }
  Pieces cut;
  if (!parts_.pre_tokenizer->Cut(whole, room->pieces, &cut)) return false;
  room->pieces -= cut.bytes.size();
  parts_.model->Append(cut, ids);
  return true;
}

absl::StatusOr<Encoding> Tokenizer::Join(std::vector<int32_t> first,
                                         std::optional<std::vector<int32_t>> second,
                                         const EncodeOptions& options) const {
  const std::vector<FramePart>& parts =
      second.has_value() ? parts_.frame.pair : parts_.frame.single;
  const size_t added_count = options.adds_special_tokens ? AddedCount(parts) : 0;
  if (options.max_tokens < added_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a row of ", options.max_tokens, " tokens has no room for ", added_count, " special ones"));
  }
  if (!second.has_value()) second.emplace();
  Encoding encoding;
  const KeptCounts kept =
      KeepLongestFirst(first.size(), second->size(), options.max_tokens - added_count);
  CutTo(kept.first, options.cut_side, &first, &encoding.cut_count);
  CutTo(kept.second, options.cut_side, &*second, &encoding.cut_count);
  encoding.ids.reserve(first.size() + second->size() + added_count);
  for (const FramePart& part : parts) {
    if (part.kind != FramePart::Kind::kId) {
      AppendAll(part.kind == FramePart::Kind::kFirst ? first : *second, part.type_id, &encoding);
    } else if (options.adds_special_tokens) {
      AppendAll({part.id}, part.type_id, &encoding);
    }
  }
  return encoding;
}

}  // namespace mpsd::text
