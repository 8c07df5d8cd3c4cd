#include "server/bodies/text_routes/text_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/request/too_long.h"
#include "server/texts/text_encoder.h"
#include "server/texts/token_tensors.h"

namespace mpsd {
namespace {

constexpr uint64_t kUsualTokenBytes = 4;
constexpr absl::string_view kTaskWords[] = {"", "gives embeddings", "scores pairs of texts",
                                            "scores classes of texts"};

void PutElement(absl::string_view text, std::string* tensor) {
  const auto bytes = static_cast<uint32_t>(text.size());
  for (int shift = 0; shift < 32; shift += 8) tensor->push_back(static_cast<char>(bytes >> shift));
  tensor->append(text.data(), text.size());
}

void AddInput(absl::string_view name, absl::Span<const int64_t> dims, absl::string_view bytes,
              InferMessage* message) {
  InputMessage& input = message->inputs.emplace_back();
  input.name = name;
  input.datatype = "BYTES";
  input.dims = dims;
  input.has_data = true;
  input.payload.Append(bytes);
}

bool Answers(TextRoute route, ModelTask task) {
  if (route == TextRoute::kRerank) return task == ModelTask::kRerank;
  if (route == TextRoute::kPredict) return task != ModelTask::kEmbedding;
  return task == ModelTask::kEmbedding;
}

// Ids, mask and types, as if each row were as long as the longest.
uint64_t BytesOfTokens(const TextRequest& request, const TextModel& model) {
  size_t longest = 0;
  for (const std::vector<int32_t>& row : request.tokens) longest = std::max(longest, row.size());
  return 3 * sizeof(int64_t) * request.tokens.size() * std::min(longest, MostTokens(model));
}

uint64_t BytesOf(const TextRequest& request, const TextModel& model) {
  if (!request.tokens.empty()) return BytesOfTokens(request, model);
  uint64_t bytes = 0;
  for (size_t i = 0; i < request.row_count(); ++i) {
    bytes += request.TextOf(i).size() + sizeof(uint32_t);
  }
  for (const std::string& pair : request.pairs) bytes += pair.size() + sizeof(uint32_t);
  return bytes;
}

// A model may have more words than its tokenizer, which mean nothing. Without a tokenizer only the
// model knows.
absl::Status CheckTokens(const TextRequest& request, const TextModel& model) {
  if (request.tokens.empty() || !model.served->texts.ok()) return absl::OkStatus();
  const int32_t bound = (*model.served->texts)->id_bound();
  for (size_t i = 0; i < request.tokens.size(); ++i) {
    for (const int32_t id : request.tokens[i]) {
      if (id < bound) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "text ", i, ": model '", model.name(), "' has no token ", id, ", only 0 to ", bound - 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTextRequest(TextRoute route, const TextRequest& request, const TextModel& model,
                              uint64_t most_bytes) {
  if (!Answers(route, model.task)) {
    return absl::InvalidArgumentError(absl::StrCat("model '", model.name(), "' ",
                                                   kTaskWords[static_cast<size_t>(model.task)],
                                                   ", and does not answer this path"));
  }
  if (route == TextRoute::kRerank && model.width > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", model.name(), "' has several scores of a pair"));
  }
  if (request.dimensions.value_or(0) > model.width && model.width > 0) {
    return absl::InvalidArgumentError(absl::StrCat("'dimensions' must be from 1 to ", model.width,
                                                   " for model '", model.name(), "'"));
  }
  if (BytesOf(request, model) > most_bytes) {
    return TooLong(
        absl::StrCat("the rows of a request have at most ", most_bytes, " bytes (limits.message)"));
  }
  return CheckTokens(request, model);
}

absl::Status TextRows::Take(const TextRequest& request, const TextModel& model, size_t first,
                            size_t count) {
  Drop();
  token_count_ = truncated_ = 0;
  first_ = first;
  dims_ = {static_cast<int64_t>(count), 1};
  if (!request.tokens.empty()) return TakeTokens(request, model, first, count);
  for (size_t row = first; row < first + count; ++row) {
    PutElement(request.TextOf(row), &texts_);
    if (!request.pairs.empty()) PutElement(request.pairs[row], &pairs_);
  }
  CountTexts(request, model);
  return absl::OkStatus();
}

// A model reads at most its limit of tokens of a row. A token is some bytes of a text.
void TextRows::CountTexts(const TextRequest& request, const TextModel& model) {
  const uint64_t most_bytes = uint64_t{MostTokens(model)} * kUsualTokenBytes;
  absl::flat_hash_set<std::pair<absl::string_view, absl::string_view>> seen;
  work_ = 0;
  for (size_t row = first_; row < first_ + row_count(); ++row) {
    const absl::string_view text = request.TextOf(row);
    const absl::string_view pair =
        request.pairs.empty() ? absl::string_view() : absl::string_view(request.pairs[row]);
    if (!seen.emplace(text, pair).second) continue;
    work_ += kUsualTokenBytes + std::min<uint64_t>(text.size() + pair.size(), most_bytes);
  }
  distinct_count_ = seen.size();
}

absl::Status TextRows::TakeTokens(const TextRequest& request, const TextModel& model, size_t first,
                                  size_t count) {
  const size_t most = MostTokens(model);
  const LongInput usual = CutsByDefault(model) ? LongInput::kTruncate : LongInput::kError;
  const bool cuts = request.wishes.long_input.value_or(usual) == LongInput::kTruncate;
  const TextSide side = request.wishes.cut_side.value_or(CutSideByDefault(model));
  const bool cuts_left = side == TextSide::kLeft;
  std::vector<text::Encoding> rows(count);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<int32_t>& ids = request.tokens[first + i];
    const size_t kept = std::min(ids.size(), most);
    if (kept < ids.size() && !cuts) {
      return TooLong(absl::StrCat("text ", first + i, ": it has ", ids.size(),
                                  " tokens, but at most ", most, " are served"));
    }
    const auto begin = cuts_left ? ids.end() - static_cast<ptrdiff_t>(kept) : ids.begin();
    rows[i].ids.assign(begin, begin + static_cast<ptrdiff_t>(kept));
    rows[i].type_ids.assign(kept, 0);
    token_count_ += kept;
    truncated_ += kept < ids.size() ? 1 : 0;
  }
  distinct_count_ = count;
  work_ = (token_count_ + count) * kUsualTokenBytes;
  const ModelSpec& spec = model.served->spec;
  PutTensors(rows, spec, *FindTokenPlaces(spec), &tokens_);
  return absl::OkStatus();
}

void TextRows::Fill(const TextRequest& request, const TextModel& model,
                    InferMessage* message) const {
  message->id = absl::string_view();
  message->inputs = tokens_.message.inputs;
  message->raw_count = message->region_inputs = 0;
  message->parameter_error.clear();
  message->timeout_us = 0;
  message->priority = 0;
  message->wants_final_flag = false;
  message->texts = request.wishes;
  message->texts.first_place = first_;
  message->texts.own_work = work_;
  const bool is_raw = request.raw_scores && model.raw_output.has_value();
  const size_t output = is_raw ? *model.raw_output : model.output;
  message->outputs = {model.served->spec.outputs[output].name};
  if (!texts_.empty()) AddInput("text", dims_, texts_, message);
  if (!pairs_.empty()) AddInput("text_pair", dims_, pairs_, message);
}

void TextRows::Drop() {
  texts_ = pairs_ = std::string();
  tokens_.message.inputs.clear();
  tokens_.tensors.clear();
  tokens_.dims.clear();
}

}  // namespace mpsd
