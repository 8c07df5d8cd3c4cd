#include "client/traffic/request_set.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/tensor.h"
#include "client/traffic/random_draws.h"
#include "proto/inference.pb.h"
#include "proto/link/model_spec.h"

namespace mpsd::traffic {
namespace {

constexpr double kTextWordsMax = 10'000;

constexpr const char* kWords[] = {
    "the",     "time",   "of",      "a",       "server", "answers", "when",       "many",
    "people",  "ask",    "about",   "weather", "in",     "north",   "mountain",   "river",
    "between", "and",    "city",    "because", "music",  "history", "was",        "written",
    "by",      "those",  "who",     "had",     "seen",   "it",      "before",     "morning",
    "paper",   "market", "price",   "rose",    "again",  "after",   "government", "announced",
    "new",     "rules",  "for",     "trade",   "with",   "other",   "countries",  "children",
    "learn",   "words",  "quickly", "if",      "they",   "read",    "every",      "evening",
    "science", "shows",  "that",    "stars",   "are",    "far",     "away",       "indeed"};

void AppendElement(DataType datatype, double value, std::string* bytes) {
  const auto whole = static_cast<int64_t>(std::llround(value));
  switch (datatype) {
    case DataType::kFp32:
      return client::AppendNumber(static_cast<float>(value), bytes);
    case DataType::kFp64:
      return client::AppendNumber(value, bytes);
    case DataType::kInt64:
    case DataType::kUint64:
      return client::AppendNumber(whole, bytes);
    case DataType::kInt32:
    case DataType::kUint32:
      return client::AppendNumber(static_cast<int32_t>(whole), bytes);
    case DataType::kBf16: {
      // A BF16 is a float's upper half.
      const auto wide = static_cast<float>(value);
      uint32_t bits = 0;
      std::memcpy(&bits, &wide, sizeof(bits));
      return client::AppendNumber(static_cast<uint16_t>(bits >> 16), bytes);
    }
    case DataType::kFp16:  // every format has small whole numbers
    case DataType::kInt16:
    case DataType::kUint16:
      return client::AppendNumber(static_cast<int16_t>(whole), bytes);
    default:
      return client::AppendNumber(static_cast<int8_t>(whole), bytes);
  }
}

double DrawElement(const InputPlan& input, std::mt19937_64* bits) {
  const double uniform = DrawUnit(bits);
  return input.low + uniform * (input.high - input.low);
}

std::string DrawText(int64_t words, std::mt19937_64* bits) {
  std::string text;
  for (int64_t i = 0; i < words; ++i) {
    absl::StrAppend(&text, i > 0 ? " " : "", kWords[(*bits)() % std::size(kWords)]);
  }
  return text;
}

std::string RandomElements(const InputPlan& input, uint64_t count, std::mt19937_64* bits) {
  if (input.datatype == DataType::kBytes) {
    std::vector<std::string> texts;
    for (uint64_t i = 0; i < count; ++i) {
      texts.push_back(DrawText(std::llround(DrawElement(input, bits)), bits));
    }
    return client::PackBytes(texts);
  }
  std::string bytes;
  bytes.reserve(count * ElementBytes(input.datatype));
  for (uint64_t i = 0; i < count; ++i) {
    AppendElement(input.datatype, DrawElement(input, bits), &bytes);
  }
  return bytes;
}

absl::StatusOr<PreparedRequest> Prepare(const RequestPlan& plan, int64_t length,
                                        std::mt19937_64* bits) {
  PreparedRequest prepared;
  prepared.share = plan.share;
  inference::ModelInferRequest request;
  request.set_model_name(plan.model);
  for (const InputPlan& input : plan.inputs) {
    Dims dims = input.dims;
    std::replace(dims.begin(), dims.end(), int64_t{-1}, length);
    const std::optional<uint64_t> count = ElementCount(dims);
    if (!count) return absl::InvalidArgumentError(absl::StrCat("no such shape: ", ShapeText(dims)));
    auto* tensor = request.add_inputs();
    tensor->set_name(input.name);
    tensor->set_datatype(std::string(DataTypeName(input.datatype)));
    for (const int64_t dim : dims) tensor->add_shape(dim);
    const std::string bytes =
        input.contents.empty() ? RandomElements(input, *count, bits) : input.contents;
    prepared.payload += bytes;
    request.add_raw_input_contents(bytes);
  }
  const grpc::Slice slice(request.SerializeAsString());
  prepared.bytes = grpc::ByteBuffer(&slice, 1);
  return prepared;
}

}  // namespace

absl::Status ParseRange(const std::string& text, InputPlan* input) {
  const std::vector<std::string> ends = absl::StrSplit(text, "..");
  if (ends.size() > 2 || !absl::SimpleAtod(ends.front(), &input->low) ||
      !absl::SimpleAtod(ends.back(), &input->high) || !(input->low <= input->high)) {
    return absl::InvalidArgumentError(absl::StrCat("not a value or a range: '", text, "'"));
  }
  if (input->datatype == DataType::kBytes && (input->low < 1 || input->high > kTextWordsMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a text has 1 to ", kTextWordsMax, " words: '", text, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<InputPlan> ParseInputPlan(const std::string& text) {
  const size_t equals = text.find('=');
  absl::StatusOr<TensorSpec> tensor = ParseTensorText(text.substr(0, equals));
  if (!tensor.ok()) return tensor.status();
  InputPlan input{.name = tensor->name, .datatype = tensor->datatype, .dims = tensor->dims};
  if (input.datatype == DataType::kBytes) {
    input.low = kFewestWords;
    input.high = kMostWords;
  }
  if (equals != std::string::npos) {
    const absl::Status status = ParseRange(text.substr(equals + 1), &input);
    if (!status.ok()) return status;
  }
  return input;
}

absl::StatusOr<std::vector<PreparedRequest>> PrepareRequests(const RequestPlan& plan) {
  const bool open = std::any_of(plan.inputs.begin(), plan.inputs.end(), [](const InputPlan& input) {
    return std::find(input.dims.begin(), input.dims.end(), -1) != input.dims.end();
  });
  if (open && plan.lengths.empty()) {
    return absl::InvalidArgumentError("an input has a dim of -1: --lengths must say its sizes");
  }
  std::mt19937_64 bits(plan.seed);
  std::vector<PreparedRequest> requests;
  for (const int64_t length : open ? plan.lengths : std::vector<int64_t>{0}) {
    for (uint32_t i = 0; i < plan.variants; ++i) {
      absl::StatusOr<PreparedRequest> request = Prepare(plan, length, &bits);
      if (!request.ok()) return request.status();
      requests.push_back(*std::move(request));
    }
  }
  return requests;
}

}  // namespace mpsd::traffic
