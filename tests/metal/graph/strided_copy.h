// StridedCopy: the two kernels of shaders that run here. The backend copies its views by them.
#pragma once

#include <ATen/core/ATen_fwd.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/metal/gpu/command_buffer.h"
#include "tests/metal/gpu/gpu_memory.h"

namespace mpsd::standin {

// One kernel: a gather reads a view and writes dense elements, a scatter does the opposite.
struct StridedCopyKernel {
  bool scatters = false;
  at::ScalarType source_type = at::ScalarType::Float;
  at::ScalarType target_type = at::ScalarType::Float;
};

// The kernel of that name in a library's source; nothing if it is none of the two. Pure.
std::optional<StridedCopyKernel> FindStridedCopy(const std::string& source,
                                                 const std::string& name);

// One run of it. The view has these sizes and strides.
Command StridedCopyOf(const StridedCopyKernel& kernel, const GpuRange& source,
                      const GpuRange& target, std::vector<int64_t> sizes,
                      std::vector<int64_t> strides);

}  // namespace mpsd::standin
