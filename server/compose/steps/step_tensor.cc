#include "server/compose/steps/step_tensor.h"

#include <cstring>
#include <utility>

#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {

void StepTensor::Lend(DataType datatype, Dims dims, const Payload& payload) {
  datatype_ = datatype;
  dims_ = std::move(dims);
  payload_ = payload;
}

void StepTensor::Look(const AnswerOutput& output) {
  datatype_ = output.datatype;
  dims_ = output.dims;
  PointTo(output.bytes);
}

void StepTensor::PointTo(absl::string_view bytes) {
  payload_.pieces.clear();
  payload_.bytes = 0;
  payload_.Append(bytes);
}

absl::Status StepTensor::Hold(const AnswerOutput& output, AnswerMemory* memory, bool is_fixed,
                              ByteAllowance* copies) {
  MPSD_CHECK(memory_ == nullptr && copy_ == nullptr);
  Look(output);
  const bool must_copy = memory == nullptr || is_fixed || output.datatype == DataType::kBytes;
  if (!must_copy && memory->TryPin()) {
    memory->Ref();
    memory_ = memory;
    return absl::OkStatus();
  }
  const uint64_t bytes = output.bytes.size();
  if (!copies->TryTake(bytes)) return Busy("too many bytes are on their way between steps");
  copies_ = copies;
  copied_bytes_ = bytes;
  copy_.reset(new char[bytes]);
  if (bytes > 0) std::memcpy(copy_.get(), output.bytes.data(), bytes);
  PointTo(absl::string_view(copy_.get(), bytes));
  return absl::OkStatus();
}

void StepTensor::Drop() {
  PointTo(absl::string_view());
  if (memory_ != nullptr) std::exchange(memory_, nullptr)->Unref();
  if (copy_ == nullptr) return;
  copy_.reset();
  copies_->GiveBack(std::exchange(copied_bytes_, 0));
}

}  // namespace mpsd
