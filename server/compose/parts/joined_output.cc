#include "server/compose/parts/joined_output.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

absl::Span<const int64_t> RowDims(const AnswerOutput& output) {
  MPSD_CHECK(!output.dims.empty() && output.dims[0] > 0);
  return absl::MakeConstSpan(output.dims).subspan(1);
}

}  // namespace

absl::Status JoinRoom::Take(uint64_t bytes) {
  if (bytes > bytes_max_ - taken_) {
    return absl::ResourceExhaustedError(
        "the outputs of all rows together are larger than the largest message, limits.message");
  }
  if (!allowance_->TryTake(bytes)) {
    return Busy("too many bytes of answers wait for other parts of their requests");
  }
  taken_ += bytes;
  return absl::OkStatus();
}

absl::Status JoinedOutput::Add(uint32_t part, uint32_t first_row, const AnswerOutput& output,
                               JoinRoom* room) {
  const absl::Span<const int64_t> dims = RowDims(output);
  const auto rows = static_cast<uint32_t>(output.dims[0]);
  MPSD_CHECK(part < strings_.size() && first_row + rows <= rows_);
  if (datatype_ == DataType::kInvalid) {
    if (absl::Status begun = Begin(output, room); !begun.ok()) return begun;
  }
  if (output.datatype != datatype_ || dims != absl::MakeConstSpan(row_dims_)) {
    return absl::InternalError(absl::StrCat("the rows of output '", output.name,
                                            "' cannot be joined: some have the shape ",
                                            ShapeText(row_dims_), ", and some ", ShapeText(dims)));
  }
  if (datatype_ == DataType::kBytes) {
    if (absl::Status taken = room->Take(output.bytes.size()); !taken.ok()) return taken;
    strings_[part] = std::string(output.bytes);
    return absl::OkStatus();
  }
  MPSD_CHECK(output.bytes.size() == row_bytes_ * rows);
  if (row_bytes_ == 0) return absl::OkStatus();
  std::memcpy(bytes_.get() + first_row * row_bytes_, output.bytes.data(), output.bytes.size());
  return absl::OkStatus();
}

absl::Status JoinedOutput::Begin(const AnswerOutput& output, JoinRoom* room) {
  const absl::Span<const int64_t> dims = RowDims(output);
  if (output.datatype != DataType::kBytes) {
    row_bytes_ = output.bytes.size() / static_cast<uint64_t>(output.dims[0]);
    if (absl::Status taken = room->Take(row_bytes_ * rows_); !taken.ok()) return taken;
    bytes_.reset(new char[row_bytes_ * rows_]);
  }
  datatype_ = output.datatype;
  row_dims_.assign(dims.begin(), dims.end());
  return absl::OkStatus();
}

AnswerOutput JoinedOutput::Join(absl::string_view name) {
  MPSD_CHECK(datatype_ != DataType::kInvalid);
  AnswerOutput output;
  output.name = name;
  output.datatype = datatype_;
  output.dims = row_dims_;
  output.dims.insert(output.dims.begin(), rows_);
  size_t bytes = 0;
  for (const std::string& rows : strings_) bytes += rows.size();
  joined_strings_.reserve(bytes);
  for (std::string& rows : strings_) joined_strings_ += std::exchange(rows, std::string());
  output.bytes = datatype_ == DataType::kBytes
                     ? absl::string_view(joined_strings_)
                     : absl::string_view(bytes_.get(), row_bytes_ * rows_);
  return output;
}

}  // namespace mpsd
