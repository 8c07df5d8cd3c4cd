#include "client/bench/bench_inputs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mpsd::bench {
namespace {

using client::ModelMetadata;
using client::TensorMetadata;
using traffic::InputPlan;

constexpr uint32_t kVariants = 16;
constexpr uint64_t kAllBytesMax = 64ULL << 20;  // a plan's requests together

absl::Status WrongInput(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("input '", name, "': ", what));
}

const TensorMetadata* FindInput(const ModelMetadata& metadata, absl::string_view name) {
  for (const TensorMetadata& input : metadata.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

std::vector<InputWish> AllInputs(const ModelMetadata& metadata) {
  const TensorMetadata* text = FindInput(metadata, "text");
  const bool takes_texts = text != nullptr && text->datatype == DataType::kBytes;
  std::vector<InputWish> wishes;
  for (const TensorMetadata& input : metadata.inputs) {
    if (!takes_texts || &input == text) wishes.emplace_back().name = input.name;
  }
  return wishes;
}

void SetDefaultRange(InputPlan* plan) {
  switch (plan->datatype) {
    case DataType::kBytes:
      plan->low = traffic::kFewestWords;
      plan->high = traffic::kMostWords;
      break;
    case DataType::kBool:
    case DataType::kFp16:
    case DataType::kFp32:
    case DataType::kFp64:
    case DataType::kBf16:
      break;  // 0 to 1
    default:
      plan->low = plan->name == "attention_mask" ? 1 : 0;
      plan->high = plan->name == "attention_mask" ? 1 : 99;
  }
}

// Rows are filled in; -1 stays for lengths.
absl::StatusOr<Dims> DimsOf(const TensorMetadata& input, const InputWish& wish, int64_t rows) {
  if (!wish.shape.empty()) return wish.shape;
  Dims dims = input.shape;
  const bool open = !dims.empty() && dims[0] == -1;
  if (rows > 0 && !open) return WrongInput(input.name, "it takes no --rows");
  if (open) dims[0] = std::max<int64_t>(rows, 1);
  return dims;
}

absl::StatusOr<InputPlan> PlanInput(const ModelMetadata& metadata, const InputWish& wish,
                                    int64_t rows) {
  const TensorMetadata* input = FindInput(metadata, wish.name);
  if (input == nullptr) {
    return WrongInput(wish.name, absl::StrCat("model '", metadata.name, "' has none of this name"));
  }
  InputPlan plan{.name = wish.name, .datatype = input->datatype};
  if (!wish.contents.empty()) {
    plan.datatype = wish.datatype;
    plan.dims = wish.shape;
    plan.contents = wish.contents;
    return plan;
  }
  absl::StatusOr<Dims> dims = DimsOf(*input, wish, rows);
  if (!dims.ok()) return dims.status();
  plan.dims = *std::move(dims);
  SetDefaultRange(&plan);
  if (wish.range.empty()) return plan;
  const absl::Status status = traffic::ParseRange(wish.range, &plan);
  if (!status.ok()) return WrongInput(wish.name, status.message());
  return plan;
}

// Counts at most 8 bytes for a word. Empty beyond the bound.
std::optional<uint64_t> BytesOf(const InputPlan& input, int64_t length) {
  if (!input.contents.empty()) return input.contents.size();
  Dims dims = input.dims;
  std::replace(dims.begin(), dims.end(), int64_t{-1}, length);
  const std::optional<uint64_t> count = ElementCount(dims);
  if (!count || *count > kAllBytesMax) return std::nullopt;
  const bool text = input.datatype == DataType::kBytes;
  return *count * (text ? static_cast<uint64_t>(input.high) * 8 : ElementBytes(input.datatype));
}

// The bound allows so many for each length, from 1 to kVariants. Empty if one alone is too large.
std::optional<uint32_t> VariantCount(const traffic::RequestPlan& plan) {
  uint64_t largest = 0;
  const int64_t longest = *std::max_element(plan.lengths.begin(), plan.lengths.end());
  for (const InputPlan& input : plan.inputs) {
    const std::optional<uint64_t> bytes = BytesOf(input, longest);
    if (!bytes || *bytes > kAllBytesMax - largest) return std::nullopt;
    largest += *bytes;
  }
  const uint64_t fitting = kAllBytesMax / (std::max<uint64_t>(largest, 1) * plan.lengths.size());
  return std::clamp<uint64_t>(fitting, 1, kVariants);
}

}  // namespace

absl::StatusOr<traffic::RequestPlan> MakeRequestPlan(const ModelMetadata& metadata,
                                                     const RequestWishes& wishes) {
  traffic::RequestPlan plan{.model = metadata.name, .lengths = wishes.lengths};
  plan.seed = wishes.seed;
  if (plan.lengths.empty()) plan.lengths = {kDefaultLength};
  for (const InputWish& wish : wishes.inputs.empty() ? AllInputs(metadata) : wishes.inputs) {
    absl::StatusOr<InputPlan> input = PlanInput(metadata, wish, wishes.rows);
    if (!input.ok()) return input.status();
    plan.inputs.push_back(*std::move(input));
  }
  const std::optional<uint32_t> variants = VariantCount(plan);
  if (!variants) return absl::InvalidArgumentError("a request has more than 64 MiB");
  plan.variants = *variants;
  return plan;
}

}  // namespace mpsd::bench
