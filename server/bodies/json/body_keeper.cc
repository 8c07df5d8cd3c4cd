#include "server/bodies/json/body_keeper.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/bodies/json/json_walk.h"

namespace mpsd {
namespace {

bool ReadNumber(ondemand::value value, inference::InferParameter* parameter) {
  int64_t number = 0;
  uint64_t large = 0;
  double real = 0;
  if (!value.get_int64().get(number)) {
    parameter->set_int64_param(number);
  } else if (!value.get_uint64().get(large)) {
    parameter->set_uint64_param(large);
  } else if (!value.get_double().get(real)) {
    parameter->set_double_param(real);
  } else {
    return false;
  }
  return true;
}

// A boolean, string, whole number (int64, or uint64 above) or other number (double).
// INVALID_ARGUMENT for anything else, null too. Thread-safe.
absl::Status ReadParameter(ondemand::value value, absl::string_view name,
                           inference::InferParameter* parameter) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type == ondemand::json_type::string) {
    absl::string_view text;
    const absl::Status status = ReadText(value, name, &text);
    parameter->set_string_param(std::string(text));
    return status;
  }
  if (type == ondemand::json_type::boolean) {
    bool flag = false;
    const absl::Status status = ReadFlag(value, name, &flag);
    parameter->set_bool_param(flag);
    return status;
  }
  if (type == ondemand::json_type::number && ReadNumber(value, parameter)) return absl::OkStatus();
  // Clients know this text.
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter '", name, "' has invalid type. It should be either 'int', 'bool', or 'string'."));
}

}  // namespace

BodyKeeper::BodyKeeper(InferBody* target, std::string body, size_t json_bytes,
                       uint64_t message_bytes, InferMessage* message)
    : body_(target),
      json_bytes_(json_bytes),
      binary_bytes_(body.size() - json_bytes),
      message_(message) {
  MPSD_CHECK(json_bytes <= body.size());
  target->Clear();
  message->id = absl::string_view();
  message->inputs.clear();
  message->outputs.clear();
  message->raw_count = 0;
  message->region_inputs = 0;
  message->parameter_error.clear();
  target->body_ = std::move(body);
  if (binary_bytes_ < kBodyPadding) target->body_.append(kBodyPadding, '\0');
  copies_.limit_bytes = message_bytes;
}

absl::Status BodyKeeper::KeepText(ondemand::value value, absl::string_view field,
                                  absl::string_view* text) {
  absl::string_view view;
  absl::Status status = ReadText(value, field, &view);
  if (status.ok()) status = Charge(view.size());
  if (status.ok()) *text = CopyText(view);
  return status;
}

absl::Status BodyKeeper::KeepParameter(absl::string_view name, ondemand::value value,
                                       ParameterMap* parameters) {
  inference::InferParameter parameter;
  absl::Status status = Charge(sizeof(parameter) + name.size());
  if (status.ok() && parameters->contains(std::string(name))) {
    status = absl::InvalidArgumentError(
        absl::StrCat("the parameter '", name.substr(0, 128), "' comes twice"));
  }
  if (status.ok()) status = ReadParameter(value, name, &parameter);
  if (status.ok()) status = Charge(parameter.string_param().size());
  if (status.ok()) (*parameters)[std::string(name)] = std::move(parameter);
  return status;
}

absl::Status BodyKeeper::Charge(size_t bytes) {
  field_bytes_ += bytes;
  if (field_bytes_ <= kMaxRequestFieldBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("a request holds at most ",
                                                   kMaxRequestFieldBytes >> 10,
                                                   " KiB besides the contents of its tensors"));
}

void BodyKeeper::AddCopied(size_t begin) {
  copied_.push_back({message_->inputs.size() - 1, begin, copies_.bytes.size() - begin});
}

void BodyKeeper::End() {
  // The request's own parameters' fault precedes a tensor's.
  std::string fault = std::move(message_->parameter_error);
  DescribeParameters(parameters_, message_);
  if (message_->parameter_error.empty()) message_->parameter_error = std::move(fault);
  body_->copied_ = std::move(copies_.bytes);
  for (const CopiedInput& copied : copied_) {
    message_->inputs[copied.input].payload.Append(
        absl::string_view(body_->copied_).substr(copied.begin, copied.bytes));
  }
}

}  // namespace mpsd
