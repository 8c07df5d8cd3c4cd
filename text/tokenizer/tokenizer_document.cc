#include "text/tokenizer/tokenizer_document.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/json_bounds.h"
#include "text/subword/vocabulary_trie.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {
namespace {

constexpr int64_t kMostId = int64_t{kMaxTokens} * 2;
// Each value costs some hundred bytes.
constexpr size_t kMaxPartValues = 1 << 14;  // for all parts but the added tokens
constexpr size_t kMaxAddedTokenValues = kMaxAddedTokens * 10;

// Lives on one thread, during ParseDocument().
class DocumentReader {
 public:
  DocumentReader(absl::string_view where, TokenizerDocument* document)
      : where_(where), document_(document) {}

  // Why the reading ended early.
  absl::Status Finish(bool is_whole) const {
    if (!fault_.ok()) return fault_;
    const bool is_object = is_whole && document_->parts.is_object();
    return is_object ? absl::OkStatus() : PartError(where_, "it is no JSON object");
  }

  // ---- the parser's events; false ends the reading ----

  bool null() { return Scalar(Json()); }
  bool boolean(bool value) { return Scalar(value); }
  bool number_integer(int64_t value) {
    return list_ == List::kScores ? AddScore(static_cast<double>(value)) : Scalar(value);
  }
  bool number_unsigned(uint64_t value) {
    if (list_ == List::kTokens && depth_ == kListDepth) return AddId(value);
    return list_ == List::kScores ? AddScore(static_cast<double>(value)) : Scalar(value);
  }
  bool number_float(double value, const std::string&) {
    return list_ == List::kScores ? AddScore(value) : Scalar(value);
  }
  bool string(std::string& text) {
    if (list_ == List::kScores) return AddScoredText(text);
    if (list_ == List::kMerges) return AddMergeText(text);
    return Scalar(std::move(text));
  }
  bool binary(Json::binary_t&) { return false; }

  bool key(std::string& name) {
    if (list_ == List::kTokens) return AddToken(name);
    if (depth_ == 1) part_ = name;
    if (depth_ == 2 && part_ == "model") member_ = name;
    key_ = std::move(name);
    return true;
  }

  bool start_object(size_t) { return Start(Json::object(), List::kTokens); }
  bool start_array(size_t) { return Start(Json::array(), List::kScores); }
  bool end_object() { return End(); }
  bool end_array() { return End(); }

  bool parse_error(size_t, const std::string&, const Json::exception&) { return false; }

 private:
  // The list that the parser is in.
  enum class List : uint8_t { kNone, kTokens, kScores, kMerges };
  static constexpr int kListDepth = 3;  // open containers in a list

  bool Fail(absl::string_view what) {
    fault_ = PartError("model", what);
    return false;
  }

  bool FailEntry() {
    if (list_ == List::kTokens)
      return Fail(absl::StrCat("the token '", token_, "' has a wrong id"));
    if (list_ == List::kMerges) {
      return Fail(absl::StrCat("the merge ", merge_count_, " is no pair of tokens"));
    }
    return Fail(absl::StrCat("the token ", document_->scores.size(), " has no text and score"));
  }

  // ---- lists ----

  bool AddText(absl::string_view text) {
    PackedTexts& tokens = document_->tokens;
    if (tokens.size() == kMaxTokens) return Fail("'vocab' has too many tokens");
    if (tokens.byte_count() + text.size() > kMaxVocabularyBytes) {
      return Fail("'vocab' has too many bytes");
    }
    tokens.Add(text);
    return true;
  }

  bool AddToken(const std::string& token) {
    token_ = token;
    return AddText(token);
  }

  bool AddId(uint64_t id) {
    if (id > static_cast<uint64_t>(kMostId)) return FailEntry();
    document_->ids.push_back(static_cast<int32_t>(id));
    return true;
  }

  bool AddScoredText(absl::string_view text) {
    if (depth_ != kListDepth + 1 || entry_values_++ != 0) return FailEntry();
    return AddText(text);
  }

  bool AddScore(double score) {
    if (depth_ != kListDepth + 1 || entry_values_++ != 1) return FailEntry();
    document_->scores.push_back(score);
    return true;
  }

  // A merge is an array of two tokens, or in older files a text with a space between.
  bool AddMergeText(absl::string_view text) {
    if (depth_ == kListDepth + 1) return entry_values_++ < 2 ? AddMergeToken(text) : FailEntry();
    const std::vector<absl::string_view> both = absl::StrSplit(text, ' ');
    if (both.size() != 2) return FailEntry();
    ++merge_count_;
    return AddMergeToken(both[0]) && AddMergeToken(both[1]);
  }

  bool AddMergeToken(absl::string_view token) {
    PackedTexts& merges = document_->merges;
    if (merges.size() == 2 * kMaxMerges) return Fail("there are too many 'merges'");
    if (merges.byte_count() + token.size() > kMaxMergesBytes) {
      return Fail("'merges' have too many bytes");
    }
    merges.Add(token);
    return true;
  }

  bool StartEntry(bool is_array) {
    if (list_ == List::kTokens || !is_array || depth_ != kListDepth) return FailEntry();
    ++depth_;
    entry_values_ = 0;
    return true;
  }

  bool EndEntry() {
    --depth_;
    if (entry_values_ != 2) return FailEntry();
    if (list_ == List::kMerges) ++merge_count_;
    return true;
  }

  // ---- all other values ----

  bool Scalar(Json value) {
    if (list_ != List::kNone) return FailEntry();
    return Put(std::move(value)) != nullptr;
  }

  Json* Put(Json value) {
    size_t* const count = part_ == "added_tokens" ? &added_token_values_ : &part_values_;
    if (++*count > (part_ == "added_tokens" ? kMaxAddedTokenValues : kMaxPartValues)) {
      fault_ = PartError(where_, absl::StrCat("'", part_, "' has too many values"));
      return nullptr;
    }
    if (open_.empty()) return &(document_->parts = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool Start(Json container, List list) {
    const bool is_array = container.is_array();
    if (list_ != List::kNone) return StartEntry(is_array);
    const bool is_of_model =
        depth_ == kListDepth - 1 && part_ == "model" && open_.back()->is_object();
    if (is_of_model && member_ == "vocab") return StartVocabulary(is_array, list);
    if (is_of_model && member_ == "merges") {
      return is_array ? StartList(List::kMerges, &has_merges_) : Fail("'merges' must be an array");
    }
    Json* const value = Put(std::move(container));
    if (value == nullptr) return false;
    open_.push_back(value);
    ++depth_;
    return true;
  }

  bool StartVocabulary(bool is_array, List list) {
    document_->form = is_array ? VocabularyForm::kArray : VocabularyForm::kObject;
    return StartList(list, &has_vocabulary_);
  }

  // A repeated list would be two in one.
  bool StartList(List list, bool* is_known) {
    if (std::exchange(*is_known, true)) return Fail(absl::StrCat("'", key_, "' is there twice"));
    if (Put(true) == nullptr) return false;
    list_ = list;
    ++depth_;
    return true;
  }

  bool End() {
    if (list_ != List::kNone && depth_ > kListDepth) return EndEntry();
    --depth_;
    if (list_ == List::kNone) {
      open_.pop_back();
    } else {
      list_ = List::kNone;
    }
    return true;
  }

  const absl::string_view where_;
  TokenizerDocument* const document_;
  absl::Status fault_;
  std::vector<Json*> open_;  // containers of `parts`, the outermost first
  int depth_ = 0;            // open containers, lists included
  std::string key_;
  std::string part_;    // last key of the outermost object
  std::string member_;  // last key of the model
  List list_ = List::kNone;
  std::string token_;        // token whose id is next
  size_t entry_values_ = 0;  // values in the open entry
  size_t merge_count_ = 0;
  bool has_vocabulary_ = false;
  bool has_merges_ = false;
  size_t part_values_ = 0;
  size_t added_token_values_ = 0;
};

// A missing type is tried in the reference's order.
std::string TypeOf(const TokenizerDocument& document, const Json& model) {
  const auto has = [&model](const char* key) {
    const auto found = model.find(key);
    return found != model.end() && !found->is_null();
  };
  if (document.form == VocabularyForm::kArray) return "Unigram";
  if (document.form != VocabularyForm::kObject) return "";
  if (has("merges")) return "BPE";
  const bool is_word_piece =
      has("unk_token") && has("continuing_subword_prefix") && has("max_input_chars_per_word");
  return is_word_piece ? "WordPiece" : "WordLevel";
}

}  // namespace

absl::Status ParseDocument(absl::string_view text, absl::string_view where,
                           TokenizerDocument* document) {
  if (text.size() > kMaxTokenizerBytes) {
    return PartError(where, absl::StrCat("it has more than ", kMaxTokenizerBytes, " bytes"));
  }
  if (CheckJsonBounds(text, kMaxJsonDepth, SIZE_MAX) != JsonBound::kWithin) {
    return PartError(where, "it is too deep");
  }
  DocumentReader reader(where, document);
  const bool is_whole = Json::sax_parse(text.begin(), text.end(), &reader);
  if (absl::Status status = reader.Finish(is_whole); !status.ok()) return status;
  const auto model = document->parts.find("model");
  if (model == document->parts.end() || !model->is_object()) return absl::OkStatus();
  if (!model->contains("type")) (*model)["type"] = TypeOf(*document, *model);
  return absl::OkStatus();
}

}  // namespace mpsd::text
