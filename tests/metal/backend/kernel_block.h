// RunInKernelBlock: a block of a stream's queue in which libtorch encodes a kernel of a shader.
#pragma once

#include <functional>

namespace mpsd::standin {

// Part of each backend, since the kernel's class differs between them. Thread-safe.
void RunInKernelBlock(const std::function<void()>& work);

}  // namespace mpsd::standin
