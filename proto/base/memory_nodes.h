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

// Nodes with cores that this process may use, by number. Immutable, and so thread-safe.
class MemoryNodes {
 public:
  // Reads `sysfs`, usually /sys. The `allowed` cores are in order. A host that tells nothing has no
  // node.
  MemoryNodes(std::string sysfs, absl::Span<const uint32_t> allowed);

  const std::vector<std::vector<uint32_t>>& cores() const { return cores_; }
  // Index in cores(), by the gpu's address on the PCI bus.
  std::optional<size_t> NodeOfGpu(absl::string_view address) const;

 private:
  const std::string sysfs_;
  std::vector<uint32_t> numbers_;  // the kernel's, for each of cores_
  std::vector<std::vector<uint32_t>> cores_;
};

}  // namespace mpsd
