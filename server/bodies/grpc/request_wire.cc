#include "server/bodies/grpc/request_wire.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "proto/encoding/protobuf_reader.h"
#include "server/bodies/grpc/typed_contents.h"

namespace mpsd {
namespace {

constexpr uint32_t kInputsField = 5;
constexpr uint32_t kOutputsField = 6;
constexpr uint32_t kRawContentsField = 7;
// With more, memory is not kept for the next request.
constexpr size_t kKeptFieldBytes = 4 << 10;

absl::Status Malformed() {
  return absl::InvalidArgumentError("the bytes are not a ModelInferRequest");
}

bool HasBytes(const ProtobufReader& reader, uint32_t field) {
  return reader.Is(field, WireType::kLengthDelimited);
}

absl::string_view View(const std::string& text) { return text; }

}  // namespace

absl::Status RequestWire::Read(absl::string_view bytes, uint64_t message_bytes,
                               InferMessage* message) {
  Clear();
  if (!Split(bytes).empty()) return Malformed();
  return Parse(message_bytes, message);
}

bool RequestWire::ReadBeginning(absl::string_view bytes, uint64_t whole_bytes,
                                uint64_t message_bytes, InferMessage* message) {
  Clear();
  const absl::string_view rest = Split(bytes);
  if (!TakeArriving(rest, whole_bytes - bytes.size()) || !Parse(message_bytes, message).ok()) {
    return false;
  }
  // The elements of BYTES are checked before admission.
  return message->region_inputs == 0 && message->inputs.size() == raw_count_ &&
         message->inputs.back().datatype != DataTypeName(DataType::kBytes);
}

bool RequestWire::TakeArriving(absl::string_view bytes, uint64_t missing_bytes) {
  constexpr char kKey = kRawContentsField << 3 | static_cast<char>(WireType::kLengthDelimited);
  if (raw_count_ >= kMaxTensors || !absl::ConsumePrefix(&bytes, absl::string_view(&kKey, 1))) {
    return false;
  }
  Varint length;
  bool is_read = false;
  while (!is_read && !bytes.empty() && !length.too_long()) {
    is_read = length.Take(static_cast<uint8_t>(bytes.front()));
    bytes.remove_prefix(1);
  }
  if (!is_read || length.value() != bytes.size() + missing_bytes) return false;
  Payload& payload = raw_.emplace_back();
  payload.Append(bytes);
  payload.bytes += missing_bytes;
  payload.arriving_bytes = missing_bytes;
  ++raw_count_;
  return true;
}

absl::Status RequestWire::Parse(uint64_t message_bytes, InferMessage* message) {
  is_large_ = fields_.size() > kKeptFieldBytes;
  if (absl::Status status = CheckSize(message_bytes); !status.ok()) return status;
  if (!parsed_.ParseFromString(fields_)) return Malformed();
  if (is_large_) std::string().swap(fields_);
  Describe(message);
  return absl::OkStatus();
}

absl::Status RequestWire::CheckSize(uint64_t message_bytes) const {
  if (fields_.size() <= kMaxRequestFieldBytes) return absl::OkStatus();
  const ContentsSize contents = MeasureContents(fields_);
  if (fields_.size() - contents.wire_bytes > kMaxRequestFieldBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a request holds at most ",
                                                     kMaxRequestFieldBytes >> 10,
                                                     " KiB besides the contents of its tensors"));
  }
  if (contents.parsed_bytes <= message_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the typed contents take ", contents.parsed_bytes, " bytes of memory, more than ",
      message_bytes, "; raw_input_contents take no more than they are"));
}

void RequestWire::Clear() {
  if (is_large_) {
    std::string().swap(fields_);
    parsed_ = inference::ModelInferRequest();
    is_large_ = false;
  }
  fields_.clear();
  raw_.clear();
  raw_count_ = 0;
  forms_.Clear();
  typed_.clear();
}

void RequestWire::DropBuffers() {
  raw_.clear();
  typed_.clear();
  if (!is_large_) return;
  parsed_.DiscardUnknownFields();
  for (auto& input : *parsed_.mutable_inputs()) input.clear_contents();
}

void RequestWire::DropFields() {
  if (is_large_) parsed_ = inference::ModelInferRequest();
}

absl::string_view RequestWire::Split(absl::string_view bytes) {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    bytes.remove_prefix(reader.whole().size());
    if (HasBytes(reader, kRawContentsField)) {
      if (++raw_count_ <= kMaxTensors + 1) raw_.emplace_back().Append(reader.text());
      continue;
    }
    // The request is refused later. Parsing all would take far more memory than their bytes.
    if (HasBytes(reader, kInputsField) && ++inputs > kMaxTensors + 1) continue;
    if (HasBytes(reader, kOutputsField) && ++outputs > kMaxTensors + 1) continue;
    fields_.append(reader.whole().data(), reader.whole().size());
  }
  return bytes;
}

void RequestWire::Describe(InferMessage* message) {
  message->model = View(parsed_.model_name());
  message->version = View(parsed_.model_version());
  message->id = View(parsed_.id());
  message->inputs.clear();
  message->outputs.clear();
  message->raw_count = raw_count_;
  message->region_inputs = 0;
  typed_.reserve(static_cast<size_t>(parsed_.inputs_size()));
  // The validator refuses the excess.
  const int inputs = std::min<int>(parsed_.inputs_size(), kMaxTensors + 1);
  DescribeParameters(parsed_.parameters(), message);
  for (int i = 0; i < inputs; ++i) DescribeInput(parsed_.inputs(i), message);
  DescribeOutputs(message);
}

void RequestWire::DescribeOutputs(InferMessage* message) {
  const int outputs = std::min<int>(parsed_.outputs_size(), kMaxTensors + 1);
  for (int i = 0; i < outputs; ++i) {
    const auto& output = parsed_.outputs(i);
    message->outputs.push_back(View(output.name()));
    if (output.parameters().empty()) continue;
    DescribeOutputForms(output.parameters(), output.name(), static_cast<size_t>(i), message,
                        &forms_);
  }
}

void RequestWire::DescribeInput(const inference::ModelInferRequest::InferInputTensor& source,
                                InferMessage* message) {
  const size_t index = message->inputs.size();
  InputMessage& input = message->inputs.emplace_back();
  input.name = View(source.name());
  input.datatype = View(source.datatype());
  input.dims = absl::MakeConstSpan(source.shape().data(), static_cast<size_t>(source.shape_size()));
  if (!source.parameters().empty() &&
      DescribeInputForms(source.parameters(), source.name(), index, message, &forms_)) {
    ++message->region_inputs;
    if (!source.has_contents()) return;
    input.has_typed = true;
    input.typed_error =
        absl::StrCat("unexpected 'content' provided when using shared memory for input tensor '",
                     input.name, "' for model '", message->model, "'");
    return;
  }
  // Inputs in a region have no raw_input_contents.
  const size_t raw_index = index - message->region_inputs;
  if (raw_index < raw_.size()) {
    input.has_data = true;
    input.payload = raw_[raw_index];
  }
  if (!source.has_contents()) return;
  if (raw_count_ > 0) {
    input.has_typed = true;  // refused, even without an element
    return;
  }
  absl::StatusOr<std::string> bytes = TypedContents(source);
  if (absl::IsNotFound(bytes.status())) return;
  input.has_typed = true;
  if (!bytes.ok()) {
    input.typed_error =
        absl::StrCat("unexpected explicit tensor data for input tensor '", input.name,
                     "' for model '", message->model, "' of type '", bytes.status().message(),
                     "', expected datatype '", input.datatype, "'");
    return;
  }
  typed_.push_back(*std::move(bytes));
  input.has_data = true;
  input.payload.Append(typed_.back());
}

}  // namespace mpsd
