#include "worker/execute/same_answers.h"

#include <algorithm>
#include <cmath>

#include "worker/model/elements.h"

namespace mpsd {
namespace {

// The largest relative difference between runs that differ only in the order of their sums.
double ToleranceOf(DataType datatype) {
  switch (datatype) {
    case DataType::kFp64:
      return 1e-10;
    case DataType::kFp32:
      return 1e-4;
    case DataType::kFp16:
      return 1e-2;
    case DataType::kBf16:
      return 5e-2;
    default:
      return 0;
  }
}

// The same for a model whose precision is lower than that of its outputs.
double Tolerance(DataType datatype, Precision precision) {
  const double shown = ToleranceOf(datatype);
  if (shown == 0) return 0;
  if (precision == Precision::kBf16) return std::max(shown, ToleranceOf(DataType::kBf16));
  const bool is_half = precision == Precision::kFp16 || precision == Precision::kTf32;
  return is_half ? std::max(shown, ToleranceOf(DataType::kFp16)) : shown;
}

bool Agree(const KeptOutput& a, const KeptOutput& b, Precision precision) {
  if (a.datatype != b.datatype || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes == b.bytes) return true;
  const double tolerance = Tolerance(a.datatype, precision);
  const size_t element_bytes = ElementBytes(a.datatype);
  if (tolerance == 0 || element_bytes == 0) return false;
  for (size_t at = 0; at < a.bytes.size(); at += element_bytes) {
    const double left = ReadElement(a.datatype, a.bytes.data() + at);
    const double right = ReadElement(b.datatype, b.bytes.data() + at);
    if (std::isnan(left) && std::isnan(right)) continue;
    if (left == right) continue;
    const double scale = std::max({1.0, std::fabs(left), std::fabs(right)});
    if (!(std::fabs(left - right) <= tolerance * scale)) return false;
  }
  return true;
}

}  // namespace

bool Agree(const KeptOutputs& a, const KeptOutputs& b, Precision precision) {
  return a.failed_rows() == b.failed_rows() &&
         std::equal(a.outputs().begin(), a.outputs().end(), b.outputs().begin(), b.outputs().end(),
                    [precision](const auto& left, const auto& right) {
                      return Agree(*left, *right, precision);
                    });
}

}  // namespace mpsd
