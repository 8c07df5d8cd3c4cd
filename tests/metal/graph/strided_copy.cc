#include "tests/metal/graph/strided_copy.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <cstddef>
#include <regex>
#include <utility>

namespace mpsd::standin {
namespace {

struct ShaderType {
  const char* name;
  at::ScalarType type;
};

constexpr ShaderType kTypes[] = {
    {"float", at::kFloat}, {"half", at::kHalf},  {"bfloat", at::kBFloat16},
    {"int", at::kInt},     {"long", at::kLong},  {"short", at::kShort},
    {"char", at::kChar},   {"uchar", at::kByte}, {"bool", at::kBool}};

std::optional<at::ScalarType> TypeOf(const std::string& name) {
  for (const ShaderType& known : kTypes) {
    if (known.name == name) return known.type;
  }
  return std::nullopt;
}

bool Begins(const std::string& text, const char* beginning) {
  return text.rfind(beginning, 0) == 0;
}

// The elements between the view's first and its last one.
size_t Extent(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return static_cast<size_t>(last) + 1;
}

GpuRange Cut(GpuRange range, size_t elements, at::ScalarType type) {
  range.bytes = elements * c10::elementSize(type);
  return range;
}

}  // namespace

std::optional<StridedCopyKernel> FindStridedCopy(const std::string& source,
                                                 const std::string& name) {
  const bool scatters = Begins(name, "scatter_kernel_");
  if (!scatters && !Begins(name, "gather_kernel_")) return std::nullopt;
  // Both libraries begin with the conversion of an element.
  std::smatch types;
  if (!std::regex_search(source, types, std::regex("cast<(\\w+), (\\w+)>"))) return std::nullopt;
  const auto target = TypeOf(types[1]);
  const auto from = TypeOf(types[2]);
  if (!target.has_value() || !from.has_value()) return std::nullopt;
  return StridedCopyKernel{scatters, *from, *target};
}

Command StridedCopyOf(const StridedCopyKernel& kernel, const GpuRange& source,
                      const GpuRange& target, std::vector<int64_t> sizes,
                      std::vector<int64_t> strides) {
  const size_t extent = Extent(sizes, strides);
  const auto count = static_cast<size_t>(c10::multiply_integers(sizes));
  const GpuRange from = Cut(source, kernel.scatters ? count : extent, kernel.source_type);
  const GpuRange to = Cut(target, kernel.scatters ? extent : count, kernel.target_type);
  const auto run = [=, sizes = std::move(sizes), strides = std::move(strides)] {
    const c10::InferenceMode inference;
    const auto tensor = [&](const GpuRange& range, at::ScalarType type, bool is_view) {
      const auto options = at::TensorOptions().dtype(type);
      return is_view ? at::from_blob(range.data(), sizes, strides, options)
                     : at::from_blob(range.data(), sizes, options);
    };
    tensor(to, kernel.target_type, kernel.scatters)
        .copy_(tensor(from, kernel.source_type, !kernel.scatters));
  };
  return Command{run, {from}, {to}};
}

}  // namespace mpsd::standin
