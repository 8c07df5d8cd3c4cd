// MemoryNodes: which cores and gpus of a host are beside which part of its memory (NUMA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The nodes with cores that this process may use, in the order of their numbers. Immutable,
// and so thread-safe.
class MemoryNodes {
 public:
  // Reads what the kernel tells in `sysfs`, usually /sys, and leaves out cores that are not
  // `allowed`, which are in order. A host that tells nothing has no node.
  MemoryNodes(std::string sysfs, absl::Span<const uint32_t> allowed);

  // The cores of each node; none is empty.
  const std::vector<std::vector<uint32_t>>& cores() const { return cores_; }
  // The index in cores() of the node beside a gpu, by its address on the PCI bus.
  std::optional<size_t> NodeOfGpu(absl::string_view address) const;

 private:
  const std::string sysfs_;
  std::vector<uint32_t> numbers_;  // the kernel's, as indexed as cores_
  std::vector<std::vector<uint32_t>> cores_;
};

}  // namespace mpsd
