#include "server/bodies/json/generate.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/bodies/json/body_keeper.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/json_walk.h"
#include "server/bodies/json/tensor_data.h"
#include "server/bodies/json/tensor_json.h"
#include "server/bodies/json/told_shape.h"

namespace mpsd {
namespace {

// Reads one body. Lives on the call's thread.
class GenerateReader {
 public:
  GenerateReader(const ModelSpec& spec, BodyKeeper* keeper) : spec_(spec), keeper_(keeper) {}

  absl::Status ReadField(absl::string_view key, ondemand::value value) {
    if (key == "id") return keeper_->KeepText(value, key, &keeper_->message()->id);
    if (key != "parameters" || FindInput(key) != nullptr) return ReadInputOrParameter(key, value);
    ondemand::object object;
    if (absl::Status status = ReadObject(value, key, &object); !status.ok()) return status;
    return ForEachField(object, [this](absl::string_view name, ondemand::value field) {
      return ReadInputOrParameter(name, field);
    });
  }

 private:
  const TensorSpec* FindInput(absl::string_view name) const {
    const auto found =
        absl::c_find_if(spec_.inputs, [name](const TensorSpec& spec) { return spec.name == name; });
    return found == spec_.inputs.end() ? nullptr : &*found;
  }

  absl::Status ReadInputOrParameter(absl::string_view name, ondemand::value value) {
    const TensorSpec* spec = FindInput(name);
    if (spec == nullptr) {
      return keeper_->KeepParameter(name, value, keeper_->request_parameters());
    }
    if (keeper_->message()->inputs.size() == kMaxTensors) {
      return absl::InvalidArgumentError(
          absl::StrCat("a request has at most ", kMaxTensors, " tensors"));
    }
    return ReadInput(*spec, value);
  }

  absl::Status ReadInput(const TensorSpec& spec, ondemand::value value) {
    const size_t begin = keeper_->copies()->bytes.size();
    DataTarget target;
    target.name = spec.name;
    target.datatype = spec.datatype;
    target.is_short_form = true;
    absl::Status status = ReadTensorData(value, target, keeper_->copies());
    if (!status.ok()) return status;
    InferBody::Shape* const shape = keeper_->AddShape();
    if (!ToldShape(spec, spec_.batches(), keeper_->copies()->last_elements, shape)) {
      return absl::InvalidArgumentError(absl::StrCat("The schema can not convert input '",
                                                     spec.name, "' to tensor with proper shape"));
    }
    InputMessage& input = keeper_->message()->inputs.emplace_back();
    input.name = keeper_->CopyText(spec.name);
    input.datatype = DataTypeName(spec.datatype);
    input.dims = *shape;
    input.has_data = true;
    keeper_->AddCopied(begin);
    return absl::OkStatus();
  }

  const ModelSpec& spec_;
  BodyKeeper* const keeper_;
};

}  // namespace

absl::Status ReadGenerateBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                              InferMessage* message, InferBody* request) {
  const size_t json_bytes = body.size();
  BodyKeeper keeper(request, std::move(body), json_bytes, message_bytes, message);
  GenerateReader reader(spec, &keeper);
  const absl::Status status = ReadDocument(keeper.text().data(), json_bytes, keeper.text().size(),
                                           [&reader](absl::string_view key, ondemand::value value) {
                                             return reader.ReadField(key, value);
                                           });
  if (status.ok()) keeper.End();
  return status;
}

absl::Status WriteGenerateReply(const ReplyHead& head, const Answer& answer, size_t most_bytes,
                                std::string* json) {
  *json = R"({"model_name":)";
  PutJsonText(head.model, json);
  absl::StrAppend(json, R"(,"model_version":)");
  PutJsonText(head.version, json);
  if (!head.id.empty()) {
    absl::StrAppend(json, R"(,"id":)");
    PutJsonText(head.id, json);
  }
  for (const AnswerOutput& output : answer.outputs) {
    json->push_back(',');
    PutJsonText(output.name, json);
    json->push_back(':');
    const absl::Status status = PutTensorJson(output, DataForm::kBareIfSingle, most_bytes, json);
    if (!status.ok()) return status;
  }
  json->push_back('}');
  return absl::OkStatus();
}

std::string StreamEvent(absl::string_view json) { return absl::StrCat("data: ", json, "\n\n"); }

}  // namespace mpsd
