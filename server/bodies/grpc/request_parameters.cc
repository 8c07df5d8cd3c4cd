#include "server/bodies/grpc/request_parameters.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace mpsd {
namespace {

using Choice = inference::InferParameter::ParameterChoiceCase;

// Other names may have any type.
struct KnownParameter {
  absl::string_view name;
  absl::Span<const Choice> choices;
  absl::string_view expected;
};

constexpr Choice kInt[] = {Choice::kInt64Param};
constexpr Choice kAnyInt[] = {Choice::kInt64Param, Choice::kUint64Param};
constexpr Choice kText[] = {Choice::kStringParam};
constexpr Choice kBool[] = {Choice::kBoolParam};
constexpr Choice kSequence[] = {Choice::kInt64Param, Choice::kUint64Param, Choice::kStringParam};
constexpr absl::string_view kSequenceId = "sequence_id";
constexpr absl::string_view kSequenceStart = "sequence_start";
constexpr absl::string_view kSequenceEnd = "sequence_end";
constexpr absl::string_view kPromptName = "prompt_name";
constexpr absl::string_view kFinalFlag = "triton_enable_empty_final_response";

constexpr KnownParameter kKnownParameters[] = {
    {"timeout", kInt, "int64_param"},      {"priority", kAnyInt, "int64_param or uint64_param"},
    {kPromptName, kText, "string_param"},  {kSequenceId, kSequence, "int64_param or string_param"},
    {kSequenceStart, kBool, "bool_param"}, {kSequenceEnd, kBool, "bool_param"},
    {kFinalFlag, kBool, "bool_param"},
};

// REQUIRES: the value is not negative.
uint64_t PriorityOf(const inference::InferParameter& value) {
  const bool is_signed = value.parameter_choice_case() == Choice::kInt64Param;
  return is_signed ? static_cast<uint64_t>(value.int64_param()) : value.uint64_param();
}

// REQUIRES: the parameter may have the value's type.
void DescribeSequence(absl::string_view name, const inference::InferParameter& value,
                      SequenceMark* mark) {
  if (name == kSequenceStart) mark->starts = value.bool_param();
  if (name == kSequenceEnd) mark->ends = value.bool_param();
  if (name != kSequenceId) return;
  if (value.parameter_choice_case() == Choice::kStringParam) {
    mark->name = value.string_param();
  } else {
    // A negative number keeps its bits: a model may take the id as an INT64.
    const bool is_signed = value.parameter_choice_case() == Choice::kInt64Param;
    mark->number = is_signed ? static_cast<uint64_t>(value.int64_param()) : value.uint64_param();
  }
}

// Empty if accepted.
std::string ParameterFault(absl::string_view name, Choice choice) {
  for (const KnownParameter& known : kKnownParameters) {
    if (name != known.name) continue;
    if (absl::c_linear_search(known.choices, choice)) return "";
    return absl::StrCat("invalid value type for '", name, "' parameter, expected ", known.expected,
                        ".");
  }
  if (absl::StartsWith(name, "triton_")) {
    return absl::StrCat(
        "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following "
        "keys starting with 'triton_' are allowed: ",
        kFinalFlag);
  }
  if (choice != Choice::PARAMETER_CHOICE_NOT_SET) return "";
  return absl::StrCat("invalid value type for '", name,
                      "' parameter, expected bool_param, int64_param, string_param, double_param "
                      "or uint64_param.");
}

void DescribeClasses(const ParameterMap& parameters, absl::string_view output,
                     InferMessage* message, std::vector<ClassRequest>* classes) {
  const auto found = parameters.find("classification");
  if (found == parameters.end()) return;
  const int64_t count = found->second.int64_param();
  if (found->second.parameter_choice_case() != Choice::kInt64Param) {
    message->parameter_error =
        "invalid value type for 'classification' parameter, expected int64_param.";
  } else if (count <= 0) {
    // Clients know this text; 0 is refused all the same.
    message->parameter_error = "invalid value for 'classification' parameter, expected >= 0";
  } else {
    classes->push_back({output, count});
  }
}

// True if the tensor lies in a region.
bool DescribeRegion(const ParameterMap& parameters, absl::string_view tensor, RegionUse use,
                    InferMessage* message, std::vector<RegionUse>* regions) {
  std::string fault = ReadRegionUse(parameters, tensor, &use);
  if (fault.empty()) {
    if (!use.region.empty()) regions->push_back(use);
  } else {
    message->parameter_error = std::move(fault);
  }
  return !use.region.empty();
}

RegionUse UseOf(size_t tensor, bool is_output) {
  RegionUse use;
  use.is_output = is_output;
  use.tensor = tensor;
  return use;
}

}  // namespace

void DescribeParameters(const ParameterMap& parameters, InferMessage* message) {
  message->parameter_error.clear();
  message->timeout_us = 0;
  message->priority = 0;
  message->wants_final_flag = false;
  message->texts = TextWishes();
  message->sequence = SequenceMark();
  for (const auto& [name, value] : parameters) {
    std::string fault = ParameterFault(name, value.parameter_choice_case());
    if (!fault.empty()) {
      message->parameter_error = std::move(fault);
      return;
    }
    if (name == "priority" && value.int64_param() < 0) {
      message->parameter_error = "invalid value for 'priority', expected value >= 0.";
      return;
    }
    DescribeSequence(name, value, &message->sequence);
    if (name == "timeout") message->timeout_us = value.int64_param();
    if (name == "priority") message->priority = PriorityOf(value);
    if (name == kPromptName) message->texts.prompt_name = value.string_param();
    if (name == kFinalFlag) message->wants_final_flag = value.bool_param();
  }
}

void DescribeOutputForms(const ParameterMap& parameters, absl::string_view output, size_t index,
                         InferMessage* message, TensorFormLists* lists) {
  const size_t classes = lists->classes.size();
  DescribeClasses(parameters, output, message, &lists->classes);
  const bool in_region = DescribeRegion(parameters, output, UseOf(index, /*is_output=*/true),
                                        message, &lists->regions);
  if (!in_region || lists->classes.size() == classes) return;
  message->parameter_error =
      absl::StrCat("output '", output, "' cannot be both classes and in shared memory");
}

bool DescribeInputForms(const ParameterMap& parameters, absl::string_view input, size_t index,
                        InferMessage* message, TensorFormLists* lists) {
  return DescribeRegion(parameters, input, UseOf(index, /*is_output=*/false), message,
                        &lists->regions);
}

}  // namespace mpsd
