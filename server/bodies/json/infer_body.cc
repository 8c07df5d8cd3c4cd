#include "server/bodies/json/infer_body.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/datatype.h"
#include "proto/base/limits.h"
#include "proto/base/shape.h"
#include "server/bodies/json/body_keeper.h"
#include "server/bodies/json/json_walk.h"
#include "server/bodies/json/tensor_data.h"

namespace mpsd {
namespace {

struct InputFields {
  std::optional<absl::string_view> name;
  std::optional<absl::string_view> datatype;
  InferBody::Shape* shape = nullptr;
  bool has_data = false;
  size_t data_begin = 0;     // in the copies
  std::string_view waiting;  // a "data" that came before shape or datatype
  std::optional<uint64_t> binary_bytes;
  ParameterMap* parameters = nullptr;  // parameters that have no field here

  bool in_region() const {
    return parameters != nullptr && parameters->contains("shared_memory_region");
  }
};

// Clients know these words.
absl::Status NotOneSource(const InputFields& fields) {
  std::string said;
  if (fields.has_data) said += " 'data'";
  if (fields.binary_bytes.has_value()) said += " 'binary_data_size'";
  if (fields.in_region()) said += " 'shared_memory_region'";
  return absl::InvalidArgumentError(
      absl::StrCat("Input must set only one of the following fields: 'data', 'binary_data_size' in "
                   "'parameters', 'shared_memory_region' in 'parameters'. But",
                   said.empty() ? " no field is set" : absl::StrCat(" set", said)));
}

DataTarget TargetOf(const InputFields& fields) {
  DataTarget target;
  target.name = fields.name.value_or("");
  target.datatype = ParseDataType(*fields.datatype);
  target.elements = ElementCount(*fields.shape);
  return target;
}

// Reads one body. Lives on the call's thread.
class InferReader {
 public:
  // So many bytes are still to come. The reader sets `*missing_bytes` to 0 if a tensor has them.
  InferReader(BodyKeeper* keeper, uint64_t* missing_bytes)
      : keeper_(keeper),
        message_(keeper->message()),
        binary_(keeper->binary()),
        missing_bytes_(missing_bytes) {}

  absl::Status ReadField(absl::string_view key, ondemand::value value) {
    if (key == "id") return keeper_->KeepText(value, key, &message_->id);
    if (key == "parameters") return ReadRequestParameters(value);
    if (key == "inputs") {
      has_inputs_ = true;
      return ReadTensors(value, key, [this](auto input) { return ReadInput(input); });
    }
    if (key != "outputs") return SkipValue(value, 1);
    return ReadTensors(value, key, [this](auto output) { return ReadOutput(output); });
  }

  absl::Status End() {
    keeper_->End();
    if (!has_inputs_) return NoField("inputs");
    if (binary_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected additional input data for model '", message_->model, "'"));
  }

 private:
  template <typename ReadOne>
  absl::Status ReadTensors(ondemand::value value, absl::string_view field, ReadOne read) {
    ondemand::array array;
    if (absl::Status status = ReadArray(value, field, &array); !status.ok()) return status;
    size_t count = 0;
    return ForEachElement(array, [&](ondemand::value element) -> absl::Status {
      if (++count > kMaxTensors) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a request has at most ", kMaxTensors, " tensors for model '", message_->model, "'"));
      }
      ondemand::object object;
      absl::Status status = ReadObject(element, field, &object);
      return status.ok() ? read(object) : status;
    });
  }

  absl::Status ReadInput(ondemand::object object) {
    InputFields fields;
    absl::Status status =
        ForEachField(object, [this, &fields](absl::string_view key, ondemand::value value) {
          return ReadInputField(key, value, &fields);
        });
    if (!status.ok()) return status;
    if (!fields.name.has_value()) return NoField("name");
    if (!fields.datatype.has_value()) return NoField("datatype");
    if (fields.shape == nullptr) return NoField("shape");
    if (!fields.waiting.empty()) status = ReadWaiting(fields);
    return status.ok() ? AddInput(fields) : status;
  }

  absl::Status ReadInputField(absl::string_view key, ondemand::value value, InputFields* fields) {
    if (key == "name") return keeper_->KeepText(value, key, &fields->name.emplace());
    if (key == "datatype") return keeper_->KeepText(value, key, &fields->datatype.emplace());
    if (key == "shape") return ReadShape(value, &fields->shape);
    if (key == "data") return ReadData(value, fields);
    if (key != "parameters") return SkipValue(value, 3);
    return ReadTensorParameters(
        value, &fields->parameters, [fields](absl::string_view name, ondemand::value parameter) {
          if (name != "binary_data_size") return absl::NotFoundError("");
          return ReadUnsigned(parameter, name, &fields->binary_bytes.emplace());
        });
  }

  absl::Status ReadShape(ondemand::value value, InferBody::Shape** shape) {
    ondemand::array array;
    if (absl::Status status = ReadArray(value, "shape", &array); !status.ok()) return status;
    InferBody::Shape& dims = *keeper_->AddShape();
    *shape = &dims;
    return ForEachElement(array, [this, &dims](ondemand::value element) {
      absl::Status status = ReadSigned(element, "shape", &dims.emplace_back());
      return status.ok() ? keeper_->Charge(sizeof(int64_t)) : status;
    });
  }

  absl::Status ReadData(ondemand::value value, InputFields* fields) {
    fields->has_data = true;
    fields->data_begin = keeper_->copies()->bytes.size();
    if (fields->datatype.has_value() && fields->shape != nullptr) {
      return ReadTensorData(value, TargetOf(*fields), keeper_->copies());
    }
    const auto error = simdjson::to_json_string(value).get(fields->waiting);
    return error ? NotJson(error) : absl::OkStatus();
  }

  // A second reader parses this text alone.
  absl::Status ReadWaiting(const InputFields& fields) {
    ondemand::parser parser;
    ondemand::document document;
    const size_t begin = static_cast<size_t>(fields.waiting.data() - keeper_->text().data());
    const simdjson::padded_string_view text(fields.waiting.data(), fields.waiting.size(),
                                            keeper_->text().size() - begin);
    if (const auto error = parser.iterate(text).get(document); error) return NotJson(error);
    ondemand::value value;
    if (document.get_value().get(value)) return Unparsable("data", "it is no array");
    const absl::Status status = ReadTensorData(value, TargetOf(fields), keeper_->copies());
    return status.ok() ? CheckEnd(&document) : status;
  }

  absl::Status AddInput(const InputFields& fields) {
    const int sources = static_cast<int>(fields.has_data) +
                        static_cast<int>(fields.binary_bytes.has_value()) +
                        static_cast<int>(fields.in_region());
    if (sources != 1) return NotOneSource(fields);
    const size_t index = message_->inputs.size();
    InputMessage& input = message_->inputs.emplace_back();
    input.name = *fields.name;
    input.datatype = *fields.datatype;
    input.dims = *fields.shape;
    if (fields.parameters != nullptr &&
        DescribeInputForms(*fields.parameters, input.name, index, message_, keeper_->forms())) {
      ++message_->region_inputs;
    }
    if (fields.in_region()) return absl::OkStatus();
    input.has_data = true;
    if (fields.binary_bytes.has_value()) return TakeBinary(*fields.binary_bytes, &input);
    keeper_->AddCopied(fields.data_begin);
    return absl::OkStatus();
  }

  absl::Status TakeBinary(uint64_t bytes, InputMessage* input) {
    if (bytes > binary_.size() && bytes - binary_.size() == *missing_bytes_) {
      input->payload.Append(binary_);
      input->payload.arriving_bytes = std::exchange(*missing_bytes_, 0);
      input->payload.bytes = bytes;
      binary_ = absl::string_view();
      return absl::OkStatus();
    }
    if (bytes > binary_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unexpected size for input '", input->name, "', expecting ", bytes - binary_.size(),
          " additional bytes for model '", message_->model, "'"));
    }
    input->payload.Append(binary_.substr(0, bytes));
    binary_.remove_prefix(bytes);
    return absl::OkStatus();
  }

  absl::Status ReadOutput(ondemand::object object) {
    std::optional<absl::string_view> name;
    std::optional<bool> binary;
    ParameterMap* parameters = nullptr;
    const absl::Status status =
        ForEachField(object, [&](absl::string_view key, ondemand::value value) {
          if (key == "name") return keeper_->KeepText(value, key, &name.emplace());
          if (key != "parameters") return SkipValue(value, 3);
          return ReadTensorParameters(
              value, &parameters, [&binary](absl::string_view known, ondemand::value parameter) {
                if (known != "binary_data") return absl::NotFoundError("");
                return ReadFlag(parameter, known, &binary.emplace());
              });
        });
    if (!status.ok()) return status;
    if (!name.has_value()) return NoField("name");
    return AddOutput(*name, binary, parameters);
  }

  // The default is JSON.
  absl::Status AddOutput(absl::string_view name, std::optional<bool> binary,
                         const ParameterMap* parameters) {
    const size_t index = message_->outputs.size();
    message_->outputs.push_back(name);
    keeper_->AddChoice(name, binary.value_or(false));
    if (parameters == nullptr) return absl::OkStatus();
    DescribeOutputForms(*parameters, name, index, message_, keeper_->forms());
    if (!binary.value_or(false) || !parameters->contains("shared_memory_region")) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "Output can't set both 'shared_memory_region' and 'binary_data'");
  }

  absl::Status ReadRequestParameters(ondemand::value value) {
    ondemand::object object;
    if (absl::Status status = ReadObject(value, "parameters", &object); !status.ok()) return status;
    return ForEachField(object, [this](absl::string_view name, ondemand::value parameter) {
      if (name == "binary_data_output") {
        bool binary = false;
        const absl::Status status = ReadFlag(parameter, name, &binary);
        keeper_->SetBinaryByDefault(binary);
        return status;
      }
      return keeper_->KeepParameter(name, parameter, keeper_->request_parameters());
    });
  }

  // `own` reads this transport's own parameters, and returns NOT_FOUND for others.
  template <typename Own>
  absl::Status ReadTensorParameters(ondemand::value value, ParameterMap** parameters, Own own) {
    ondemand::object object;
    if (absl::Status status = ReadObject(value, "parameters", &object); !status.ok()) return status;
    return ForEachField(object, [&](absl::string_view name, ondemand::value parameter) {
      absl::Status status = own(name, parameter);
      if (!absl::IsNotFound(status)) return status;
      if (*parameters == nullptr) *parameters = keeper_->AddParameters();
      return keeper_->KeepParameter(name, parameter, *parameters);
    });
  }

  BodyKeeper* const keeper_;
  InferMessage* const message_;
  absl::string_view binary_;  // not yet taken by an input
  uint64_t* const missing_bytes_;
  bool has_inputs_ = false;
};

}  // namespace

absl::StatusOr<size_t> JsonBytes(absl::string_view header, size_t body_bytes) {
  if (header.empty()) return body_bytes;
  uint64_t bytes = 0;
  const bool is_number =
      std::all_of(header.begin(), header.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || !absl::SimpleAtoi(header, &bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Unable to parse Inference-Header-Content-Length, got: ", header.substr(0, 64)));
  }
  if (bytes <= body_bytes) return static_cast<size_t>(bytes);
  return absl::InvalidArgumentError(
      absl::StrCat("inference header size should be in range (0, ", body_bytes, "), got: ", bytes));
}

absl::Status InferBody::Read(std::string body, size_t json_bytes, uint64_t message_bytes,
                             InferMessage* message) {
  uint64_t missing_bytes = 0;
  return ReadWith(std::move(body), json_bytes, message_bytes, &missing_bytes, message);
}

bool InferBody::ReadBeginning(std::string beginning, size_t json_bytes, size_t whole_bytes,
                              uint64_t message_bytes, InferMessage* message) {
  uint64_t missing_bytes = whole_bytes - beginning.size();
  const absl::Status status =
      ReadWith(std::move(beginning), json_bytes, message_bytes, &missing_bytes, message);
  if (!status.ok() || missing_bytes > 0 || message->region_inputs > 0) return false;
  // The elements of BYTES are checked before admission.
  return absl::c_none_of(message->inputs, [](const InputMessage& input) {
    return input.payload.arriving_bytes > 0 && input.datatype == DataTypeName(DataType::kBytes);
  });
}

absl::Status InferBody::ReadWith(std::string body, size_t json_bytes, uint64_t message_bytes,
                                 uint64_t* missing_bytes, InferMessage* message) {
  BodyKeeper keeper(this, std::move(body), json_bytes, message_bytes, message);
  InferReader reader(&keeper, missing_bytes);
  const absl::Status status = ReadDocument(body_.data(), json_bytes, body_.size(),
                                           [&reader](absl::string_view key, ondemand::value value) {
                                             return reader.ReadField(key, value);
                                           });
  return status.ok() ? reader.End() : status;
}

bool InferBody::WantsBinary(absl::string_view output) const {
  for (const BinaryChoice& choice : choices_) {
    if (choice.output == output) return choice.binary;
  }
  return binary_by_default_;
}

void InferBody::DropPayloads() {
  std::string().swap(body_);
  std::string().swap(copied_);
}

void InferBody::Clear() {
  DropPayloads();
  DropFields();
}

void InferBody::DropFields() {
  texts_.clear();
  shapes_.clear();
  parameters_.clear();
  forms_.Clear();
  choices_.clear();
  binary_by_default_ = false;
}

}  // namespace mpsd
