#include "worker/model/torch/torch_precision.h"

#include "ATen/Context.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/libtorch_versions.h"

namespace mpsd {

std::optional<c10::ScalarType> ConvertedType(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return c10::ScalarType::Float;
    case Precision::kBf16:
      return c10::ScalarType::BFloat16;
    case Precision::kFp16:
      return c10::ScalarType::Half;
    case Precision::kAsSaved:
    case Precision::kAuto:
    case Precision::kInt8:
      break;
  }
  return std::nullopt;
}

void RoundProductsFor(Precision precision) {
  static bool was_told = false;
  const bool is_told = precision == Precision::kFp32 || precision == Precision::kTf32;
  if (!is_told && !was_told) return;
  was_told = true;
  at::Context& context = at::globalContext();
  static const bool matrices_at_start = context.allowTF32CuBLAS();
  static const bool convolutions_at_start = context.allowTF32CuDNN();
  const bool rounds = precision == Precision::kTf32;
  context.setAllowTF32CuBLAS(is_told ? rounds : matrices_at_start);
  context.setAllowTF32CuDNN(is_told ? rounds : convolutions_at_start);
}

bool CpuMultipliesBf16() {
  bool multiplies = false;
  CatchForeign([&] {
    multiplies = CpuHasBf16Units();
    return absl::OkStatus();
  }).IgnoreError();  // a cpu that does not tell counts as having none
  return multiplies;
}

}  // namespace mpsd
