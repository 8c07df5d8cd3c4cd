#include "worker/model/torch/torch_precision.h"

#include <algorithm>
#include <array>

#include "ATen/Context.h"
#include "ATen/cpu/Utils.h"
#include "worker/model/foreign_errors.h"

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
  constexpr std::array<const char*, 3> kUnits = {"amx_bf16", "avx512_bf16", "bf16"};
  bool multiplies = false;
  CatchForeign([&] {
    const auto capabilities = at::cpu::get_cpu_capabilities();
    multiplies = std::any_of(kUnits.begin(), kUnits.end(), [&capabilities](const char* unit) {
      const auto found = capabilities.find(unit);
      return found != capabilities.end() && found->second.isBool() && found->second.toBool();
    });
    return absl::OkStatus();
  }).IgnoreError();  // a cpu that does not tell has none
  return multiplies;
}

}  // namespace mpsd
