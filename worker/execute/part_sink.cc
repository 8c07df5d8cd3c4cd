#include "worker/execute/part_sink.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mpsd {

void PartSink::Begin(const BatchPart& part) {
  part_ = part;
  next_ = 0;
  differs_ = false;
}

PartSink::Output* PartSink::Declare(DataType datatype, absl::Span<const int64_t> row_dims) {
  const std::optional<uint64_t> row_bytes = TensorBytes(datatype, row_dims);
  if (!row_bytes.has_value()) return nullptr;
  Dims dims(row_dims.begin(), row_dims.end());
  dims.insert(dims.begin(), row_count_);
  Output& output = outputs_.emplace_back();
  output.datatype = datatype;
  output.row_dims.assign(row_dims.begin(), row_dims.end());
  output.row_bytes = *row_bytes;
  output.data = static_cast<char*>(whole_->Add(datatype, dims));
  if (output.data != nullptr) std::memset(output.data, 0, *row_bytes * row_count_);
  return &output;
}

bool PartSink::End() {
  if (differs_ || next_ != outputs_.size()) return false;
  declared_all_ = true;
  return true;
}

void* PartSink::Add(DataType datatype, absl::Span<const int64_t> dims) {
  if (dims.empty() || dims[0] != part_.row_count) {
    differs_ = true;
    return nullptr;
  }
  const absl::Span<const int64_t> row_dims = dims.subspan(1);
  Output* output = nullptr;
  if (next_ < outputs_.size()) {
    output = &outputs_[next_];
  } else if (!declared_all_) {
    output = Declare(datatype, row_dims);
  }
  ++next_;
  if (output == nullptr || output->datatype != datatype ||
      !std::equal(row_dims.begin(), row_dims.end(), output->row_dims.begin(),
                  output->row_dims.end())) {
    differs_ = true;
    return nullptr;
  }
  if (output->data == nullptr) return nullptr;
  return output->data + part_.first_row * output->row_bytes;
}

void* PartSink::AddBytes(absl::Span<const int64_t>, uint64_t) {
  differs_ = true;
  return nullptr;
}

void PartSink::FailRow(uint32_t row, absl::string_view why) {
  if (row < part_.row_count) whole_->FailRow(part_.first_row + row, why);
}

}  // namespace mpsd
