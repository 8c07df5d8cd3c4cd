#include "proto/base/shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mpsd {
namespace {

constexpr uint64_t kMaxBytes = 1ULL << 62;

std::optional<uint64_t> CheckedProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaxBytes) return std::nullopt;
  return product;
}

}  // namespace

std::optional<uint64_t> ElementCount(absl::Span<const int64_t> dims) {
  std::optional<uint64_t> count = 1;
  bool has_zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      has_zero = true;
      continue;
    }
    if (count.has_value()) count = CheckedProduct(*count, static_cast<uint64_t>(dim));
  }
  if (has_zero && count.has_value()) return 0;
  return count;
}

std::optional<uint64_t> TensorBytes(DataType datatype, absl::Span<const int64_t> dims) {
  const size_t element = ElementBytes(datatype);
  if (element == 0) return std::nullopt;
  const std::optional<uint64_t> count = ElementCount(dims);
  if (!count.has_value()) return std::nullopt;
  return CheckedProduct(*count, element);
}

bool ShapeFits(absl::Span<const int64_t> spec, absl::Span<const int64_t> dims) {
  const auto fits = [](int64_t want, int64_t have) { return want < 0 ? have >= 0 : want == have; };
  return std::equal(spec.begin(), spec.end(), dims.begin(), dims.end(), fits);
}

std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(value, alignment - 1, &sum)) return std::nullopt;
  return sum & ~(alignment - 1);
}

std::string ShapeText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

}  // namespace mpsd
