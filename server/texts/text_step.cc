#include "server/texts/text_step.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/shape.h"
#include "server/request/retry_info.h"
#include "server/request/string_elements.h"
#include "server/telemetry/model_metrics.h"
#include "server/texts/text_encoder.h"
#include "server/texts/token_tensors.h"

namespace mpsd {
namespace {

constexpr absl::string_view kText = "text";
constexpr absl::string_view kPair = "text_pair";

struct TextInputs {
  const InputMessage* text = nullptr;
  const InputMessage* pair = nullptr;  // null: none
};

template <typename... Words>
absl::Status Refused(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

// Refuses any other input.
absl::StatusOr<TextInputs> FindInputs(const InferMessage& message, const ServedModel& model) {
  TextInputs inputs;
  for (const InputMessage& input : message.inputs) {
    if (input.name != kText && input.name != kPair) {
      return Refused("unexpected inference input '", input.name, "' beside 'text' for model '",
                     model.name, "'");
    }
    const InputMessage*& place = input.name == kText ? inputs.text : inputs.pair;
    if (place != nullptr) return Refused("input '", input.name, "' already exists in request");
    place = &input;
  }
  MPSD_CHECK(inputs.text != nullptr);
  return inputs;
}

absl::Status CheckShape(const InputMessage& input, const ServedModel& model) {
  const bool is_column = input.dims.size() == 2 && input.dims[1] == 1;
  if ((input.dims.size() != 1 && !is_column) || input.dims[0] < 1) {
    return Refused("unexpected shape for input '", input.name, "' for model '", model.name,
                   "'. Expected [-1,1], got ", ShapeText(input.dims), ".");
  }
  if (input.dims[0] > model.MostRows()) {
    return Refused("inference request batch-size must be <= ", model.MostRows(), " for '",
                   model.name, "'");
  }
  return absl::OkStatus();
}

absl::Status CheckText(const InferMessage& message, const InputMessage& input,
                       const ServedModel& model) {
  if (input.datatype != "BYTES") {
    return Refused("inference input '", input.name, "' data-type is '", input.datatype,
                   "', but model '", model.name, "' expects 'BYTES'");
  }
  if (message.raw_count > 0 && input.has_typed) {
    return Refused("contents field must not be specified when using raw_input_contents for '",
                   input.name, "' for model '", model.name, "'");
  }
  if (absl::Status status = CheckShape(input, model); !status.ok()) return status;
  if (input.has_typed && !input.typed_error.empty()) return Refused(input.typed_error);
  if (!input.has_data) {
    return Refused("unable to find data for input tensor '", input.name, "' for model '",
                   model.name, "' in request.");
  }
  return CheckStrings(input.payload, input.name, model.name, input.dims);
}

absl::StatusOr<TextInputs> CheckTexts(const InferMessage& message, const ServedModel& model) {
  const size_t raw_inputs = message.inputs.size() - message.region_inputs;
  if (message.raw_count > raw_inputs) {
    return Refused("expected ", raw_inputs, " raw input contents but got ", message.raw_count,
                   " for model '", model.name, "'");
  }
  absl::StatusOr<TextInputs> inputs = FindInputs(message, model);
  if (!inputs.ok()) return inputs;
  absl::Status status = CheckText(message, *inputs->text, model);
  if (status.ok() && inputs->pair != nullptr) status = CheckText(message, *inputs->pair, model);
  if (!status.ok()) return status;
  if (inputs->pair != nullptr && inputs->pair->dims[0] != inputs->text->dims[0]) {
    return Refused("input 'text_pair' batch size does not match other inputs for '", model.name,
                   "'");
  }
  return inputs;
}

// Names the text's place.
absl::Status OfText(size_t place, const absl::Status& status) {
  return WithText(status, absl::StrCat("text ", place, ": ", status.message()));
}

// Each text has its prompt in front.
absl::StatusOr<std::vector<std::string>> PromptedTexts(const TextInputs& inputs,
                                                       const TextEncoder& encoder,
                                                       const TextWishes& wishes) {
  std::vector<std::string> texts = ReadStrings(inputs.text->payload);
  if (inputs.pair != nullptr) {
    if (!wishes.prompt_name.has_value()) return texts;
    return Refused("'prompt_name' is there, but pairs of texts have no prompt");
  }
  const absl::StatusOr<absl::string_view> prompt = encoder.prompts().Find(wishes.prompt_name);
  if (!prompt.ok()) return prompt.status();
  for (std::string& text : texts) text.insert(0, prompt->data(), prompt->size());
  return texts;
}

// Equal texts or pairs share a row.
struct SharedRows {
  std::vector<text::Encoding> rows;
  std::vector<uint32_t> row_of_text;
};

absl::StatusOr<SharedRows> EncodeAll(const TextInputs& inputs, const TextEncoder& encoder,
                                     size_t most_tokens, const TextWishes& wishes,
                                     absl::FunctionRef<absl::Status()> go_on) {
  const absl::StatusOr<std::vector<std::string>> texts = PromptedTexts(inputs, encoder, wishes);
  if (!texts.ok()) return texts.status();
  std::vector<std::string> pairs;
  if (inputs.pair != nullptr) pairs = ReadStrings(inputs.pair->payload);
  SharedRows shared;
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, uint32_t> known;
  for (size_t i = 0; i < texts->size(); ++i) {
    if (absl::Status status = go_on(); !status.ok()) return status;
    std::optional<absl::string_view> pair;
    if (!pairs.empty()) pair = pairs[i];
    const auto next = static_cast<uint32_t>(shared.rows.size());
    const auto [place, is_new] = known.try_emplace({(*texts)[i], pair.value_or("")}, next);
    shared.row_of_text.push_back(place->second);
    if (!is_new) continue;
    absl::StatusOr<text::Encoding> row = encoder.Encode((*texts)[i], pair, most_tokens, wishes);
    if (!row.ok()) return OfText(wishes.first_place + i, row.status());
    shared.rows.push_back(*std::move(row));
  }
  return shared;
}

// PutTensors() adds others.
InferMessage WithoutInputs(const InferMessage& message) {
  InferMessage copy = message;
  copy.inputs.clear();
  copy.raw_count = 0;
  copy.region_inputs = 0;
  return copy;
}

// Counts every text, also one that shares another's row.
void Count(const SharedRows& shared, TokenRows* tokens, ModelMetrics* metrics) {
  for (const uint32_t row : shared.row_of_text) {
    tokens->token_count += shared.rows[row].ids.size();
    if (shared.rows[row].cut_count > 0) ++tokens->truncated_texts;
  }
  metrics->repeated_texts.fetch_add(shared.row_of_text.size() - shared.rows.size(),
                                    std::memory_order_relaxed);
  metrics->text_tokens.fetch_add(tokens->token_count, std::memory_order_relaxed);
  metrics->truncated_texts.fetch_add(tokens->truncated_texts, std::memory_order_relaxed);
}

// For the texts of an unchecked message.
uint64_t PromptBytes(const InferMessage& message, const ServedModel& model) {
  if (!model.texts.ok() || message.inputs.size() != 1 || message.inputs[0].dims.empty()) return 0;
  const auto prompt = (*model.texts)->prompts().Find(message.texts.prompt_name);
  const int64_t most = model.MostRows();
  const int64_t count = std::clamp<int64_t>(message.inputs[0].dims[0], 0, most);
  return prompt.value_or("").size() * static_cast<uint64_t>(count);
}

}  // namespace

bool HasTexts(const InferMessage& message, const ServedModel& model) {
  const auto is_text = [](const auto& input) { return input.name == kText; };
  return std::any_of(message.inputs.begin(), message.inputs.end(), is_text) &&
         !absl::IsUnimplemented(model.texts.status()) &&
         std::none_of(model.spec.inputs.begin(), model.spec.inputs.end(), is_text);
}

uint64_t TextBytes(const InferMessage& message, const ServedModel& model) {
  uint64_t bytes = PromptBytes(message, model);
  for (const InputMessage& input : message.inputs) bytes += input.payload.bytes;
  return bytes;
}

absl::StatusOr<std::shared_ptr<TokenRows>> EncodeTexts(const InferMessage& message,
                                                       const ServedModel& model, const Clock* clock,
                                                       absl::FunctionRef<absl::Status()> go_on) {
  const int64_t start_ns = clock->NowNs();
  const std::optional<TokenPlaces> places = FindTokenPlaces(model.spec);
  if (!model.texts.ok() || !places.has_value()) {
    return absl::UnavailableError(absl::StrCat("model '", model.name,
                                               "' takes no texts: its tokenizer cannot be used; "
                                               "the server's log says why"));
  }
  const absl::StatusOr<TextInputs> inputs = CheckTexts(message, model);
  if (!inputs.ok()) return inputs.status();
  absl::StatusOr<SharedRows> shared =
      EncodeAll(*inputs, **model.texts, MostRowTokens(model.spec, *places), message.texts, go_on);
  if (!shared.ok()) return shared.status();
  const uint64_t tensor_bytes = TensorBytesOf(shared->rows, model.spec, *places);
  if (tensor_bytes > kMaxTokenTensorBytes) {
    return Refused("the texts become ", tensor_bytes, " bytes of tokens; at most ",
                   kMaxTokenTensorBytes, " are served");
  }
  auto tokens = std::make_shared<TokenRows>();
  tokens->message = WithoutInputs(message);
  tokens->encoder = *model.texts;
  PutTensors(shared->rows, model.spec, *places, tokens.get());
  Count(*shared, tokens.get(), &model.metrics);
  const bool has_repeated = shared->rows.size() < shared->row_of_text.size();
  if (has_repeated) tokens->row_of_text = std::move(shared->row_of_text);
  model.metrics.text_encoding.ObserveNs(clock->NowNs() - start_ns);
  return tokens;
}

}  // namespace mpsd
