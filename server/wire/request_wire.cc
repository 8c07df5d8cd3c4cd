#include "server/wire/request_wire.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "proto/encoding/protobuf_writer.h"
#include "server/wire/typed_contents.h"

namespace mpsd {
namespace {

constexpr uint32_t kInputsField = 5;
constexpr uint32_t kOutputsField = 6;
constexpr uint32_t kRawContentsField = 7;
// A request with more field bytes does not keep its memory for the next one.
constexpr size_t kKeptFieldBytes = 4 << 10;

constexpr uint64_t KeyOf(uint32_t field) { return FieldKey(field, WireType::kLengthDelimited); }

absl::Status Malformed() {
  return absl::InvalidArgumentError("the bytes are not a ModelInferRequest");
}

// A cursor over the bytes of several slices. Lives during one Split().
class SliceReader {
 public:
  explicit SliceReader(const std::vector<grpc::Slice>& slices) : slices_(slices) {}

  bool AtEnd() {
    while (slice_ < slices_.size() && offset_ == slices_[slice_].size()) {
      ++slice_;
      offset_ = 0;
    }
    return slice_ == slices_.size();
  }

  // Each reads a varint and appends its bytes to `copy`.
  bool ReadVarint(uint64_t* value, std::string* copy) { return Read(SIZE_MAX, value, copy); }
  bool ReadKey(uint64_t* value, std::string* copy) { return Read(kMaxKeyBytes, value, copy); }

  // Hands the next `bytes` bytes to `take`, piece by piece.
  template <typename Take>
  bool ReadBytes(uint64_t bytes, Take take) {
    while (bytes > 0) {
      if (AtEnd()) return false;
      const grpc::Slice& slice = slices_[slice_];
      const uint64_t step = std::min<uint64_t>(bytes, slice.size() - offset_);
      take(absl::string_view(reinterpret_cast<const char*>(slice.begin()) + offset_, step));
      offset_ += step;
      bytes -= step;
    }
    return true;
  }

 private:
  bool Read(size_t most_bytes, uint64_t* value, std::string* copy) {
    Varint varint;
    for (size_t i = 0; i < most_bytes && !varint.too_long() && !AtEnd(); ++i) {
      const uint8_t byte = slices_[slice_].begin()[offset_++];
      copy->push_back(static_cast<char>(byte));
      if (!varint.Take(byte)) continue;
      *value = varint.value();
      return true;
    }
    return false;
  }

  const std::vector<grpc::Slice>& slices_;
  size_t slice_ = 0;
  size_t offset_ = 0;
};

absl::string_view View(const std::string& text) { return text; }

}  // namespace

absl::Status RequestWire::Read(const grpc::ByteBuffer& bytes, uint64_t message_bytes,
                               InferMessage* message) {
  Clear();
  if (!bytes.Dump(&slices_).ok()) return Malformed();
  return ReadSlices(message_bytes, message);
}

absl::Status RequestWire::Read(absl::string_view bytes, uint64_t message_bytes,
                               InferMessage* message) {
  Clear();
  slices_.emplace_back(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  return ReadSlices(message_bytes, message);
}

absl::Status RequestWire::ReadSlices(uint64_t message_bytes, InferMessage* message) {
  if (absl::Status status = Split(); !status.ok()) return status;
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
  slices_.clear();
  fields_.clear();
  raw_.clear();
  raw_count_ = 0;
  forms_.Clear();
  typed_.clear();
}

void RequestWire::DropBuffers() {
  slices_.clear();
  raw_.clear();
  typed_.clear();
  if (!is_large_) return;
  parsed_.DiscardUnknownFields();
  for (auto& input : *parsed_.mutable_inputs()) input.clear_contents();
}

absl::Status RequestWire::Split() {
  SliceReader reader(slices_);
  uint32_t tensors[2] = {0, 0};
  uint32_t groups = 0;  // open ones; protobuf checks their contents later
  const auto copy = [&](uint64_t bytes) {
    return reader.ReadBytes(
        bytes, [&](absl::string_view piece) { fields_.append(piece.data(), piece.size()); });
  };
  while (!reader.AtEnd()) {
    const size_t begin = fields_.size();
    uint64_t key = 0;
    uint64_t length = 0;
    if (!reader.ReadKey(&key, &fields_)) return Malformed();
    switch (static_cast<WireType>(key & 7)) {
      case WireType::kVarint:
        if (!reader.ReadVarint(&length, &fields_)) return Malformed();
        continue;
      case WireType::kFixed64:
        length = 8;
        break;
      case WireType::kFixed32:
        length = 4;
        break;
      case WireType::kLengthDelimited:
        if (!reader.ReadKey(&length, &fields_)) return Malformed();
        break;
      case WireType::kGroupBegin:
        ++groups;
        continue;
      case WireType::kGroupEnd:
        if (groups == 0) return Malformed();
        --groups;
        continue;
      default:
        return Malformed();
    }
    bool whole = false;
    if (groups > 0) {
      whole = copy(length);
    } else if (key == KeyOf(kRawContentsField)) {
      fields_.resize(begin);
      Payload payload;
      whole = reader.ReadBytes(length, [&](absl::string_view piece) { payload.Append(piece); });
      if (++raw_count_ <= kMaxTensors + 1) raw_.push_back(std::move(payload));
    } else if ((key == KeyOf(kInputsField) || key == KeyOf(kOutputsField)) &&
               ++tensors[key == KeyOf(kOutputsField)] > kMaxTensors + 1) {
      // The request is refused later. Parsing all its tensors would take far more memory than their
      // bytes.
      fields_.resize(begin);
      whole = reader.ReadBytes(length, [](absl::string_view) {});
    } else {
      whole = copy(length);
    }
    if (!whole) return Malformed();
  }
  return absl::OkStatus();
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
  // One more than allowed, so that the validator sees the excess and refuses it.
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
  // raw_input_contents has entries only for inputs that lie in no region.
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
