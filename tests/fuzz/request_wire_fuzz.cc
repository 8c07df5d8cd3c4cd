// The hand-written walk over a ModelInferRequest against protobuf's own reading of the same bytes:
// the same verdict, the same values.
#include <cstdint>
#include <string>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/bodies/grpc/request_wire.h"

namespace mpsd {
namespace {

using inference::ModelInferRequest;

constexpr uint64_t kMessageBytes = 1 << 20;

void CheckInput(const InputMessage& input, const ModelInferRequest& parsed, int index) {
  const auto& source = parsed.inputs(index);
  MPSD_CHECK(input.name == source.name() && input.datatype == source.datatype());
  const absl::Span<const int64_t> dims(source.shape().data(),
                                       static_cast<size_t>(source.shape_size()));
  MPSD_CHECK(input.dims == dims);
  if (index >= parsed.raw_input_contents_size()) return;
  std::string bytes;
  for (const absl::string_view piece : input.payload.pieces) {
    bytes.append(piece.data(), piece.size());
  }
  MPSD_CHECK(input.has_data && input.payload.bytes == bytes.size());
  MPSD_CHECK(bytes == parsed.raw_input_contents(index));
}

void CheckSame(const InferMessage& message, const ModelInferRequest& parsed) {
  MPSD_CHECK(message.model == parsed.model_name() && message.id == parsed.id());
  MPSD_CHECK(message.version == parsed.model_version());
  MPSD_CHECK(message.raw_count == static_cast<uint32_t>(parsed.raw_input_contents_size()));
  MPSD_CHECK(message.inputs.size() ==
             std::min<size_t>(static_cast<size_t>(parsed.inputs_size()), kMaxTensors + 1));
  for (size_t i = 0; i < message.inputs.size(); ++i) {
    CheckInput(message.inputs[i], parsed, static_cast<int>(i));
  }
  for (size_t i = 0; i < message.outputs.size(); ++i) {
    MPSD_CHECK(message.outputs[i] == parsed.outputs(static_cast<int>(i)).name());
  }
}

// The validator refuses the request, whatever stands in the tensors that were not parsed.
bool HasTooManyTensors(const InferMessage& message) {
  return message.inputs.size() > kMaxTensors || message.outputs.size() > kMaxTensors;
}

void Read(const std::string& bytes) {
  static RequestWire wire;
  InferMessage message;
  ModelInferRequest parsed;
  const bool whole = parsed.ParseFromString(bytes);
  const absl::Status status = wire.Read(bytes, kMessageBytes, &message);
  if (!whole) {
    MPSD_CHECK(!status.ok() || HasTooManyTensors(message));
  } else if (status.ok()) {
    CheckSame(message, parsed);
  } else {
    MPSD_CHECK(status.code() == absl::StatusCode::kResourceExhausted ||
               parsed.inputs_size() > static_cast<int>(kMaxTensors) ||
               parsed.outputs_size() > static_cast<int>(kMaxTensors));
  }
}

// A beginning that can be read says what the whole says.
void ReadBeginning(const std::string& bytes, size_t begun) {
  static RequestWire wire;
  InferMessage message;
  const absl::string_view beginning = absl::string_view(bytes).substr(0, begun);
  if (!wire.ReadBeginning(beginning, bytes.size(), kMessageBytes, &message)) return;
  ModelInferRequest parsed;
  MPSD_CHECK(parsed.ParseFromString(bytes));
  Payload& last = message.inputs.back().payload;
  MPSD_CHECK(last.arriving_bytes == bytes.size() - begun);
  last.arriving_bytes = 0;
  const absl::string_view rest = absl::string_view(bytes).substr(begun);
  if (!rest.empty()) last.pieces.push_back(rest);
  CheckSame(message, parsed);
}

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string message(reinterpret_cast<const char*>(data), bytes);
  mpsd::Read(message);
  // The last byte is a part of both, so that the corpus stays what it was.
  mpsd::ReadBeginning(message, bytes == 0 ? 0 : data[bytes - 1] * bytes / 256);
  return 0;
}
