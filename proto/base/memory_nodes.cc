#include "proto/base/memory_nodes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mpsd {
namespace {

constexpr uint32_t kMostCores = 65536;

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Reads "0-3,8". A part that is no range adds none.
std::vector<uint32_t> AllowedCores(const std::string& list, absl::Span<const uint32_t> allowed) {
  std::vector<uint32_t> cores;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    uint32_t first = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    uint32_t last = first;
    if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) continue;
    for (uint32_t core = first; core <= std::min(last, kMostCores); ++core) {
      if (std::binary_search(allowed.begin(), allowed.end(), core)) cores.push_back(core);
    }
  }
  return cores;
}

}  // namespace

MemoryNodes::MemoryNodes(std::string sysfs, absl::Span<const uint32_t> allowed)
    : sysfs_(std::move(sysfs)) {
  namespace fs = std::filesystem;
  std::map<uint32_t, std::vector<uint32_t>> nodes;
  std::error_code error;
  for (fs::directory_iterator entry(sysfs_ + "/devices/system/node", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    uint32_t number = 0;
    if (!absl::StartsWith(name, "node") || !absl::SimpleAtoi(name.substr(4), &number)) continue;
    nodes[number] = AllowedCores(FirstLine(entry->path() / "cpulist"), allowed);
  }
  for (auto& [number, cores] : nodes) {
    if (cores.empty()) continue;  // memory alone, or other processes' cores
    numbers_.push_back(number);
    cores_.push_back(std::move(cores));
  }
}

std::optional<size_t> MemoryNodes::NodeOfGpu(absl::string_view address) const {
  uint32_t number = 0;  // the kernel writes -1 for unknown
  const std::string file =
      absl::StrCat(sysfs_, "/bus/pci/devices/", absl::AsciiStrToLower(address), "/numa_node");
  if (!absl::SimpleAtoi(FirstLine(file), &number)) return std::nullopt;
  const auto found = std::find(numbers_.begin(), numbers_.end(), number);
  if (found == numbers_.end()) return std::nullopt;
  return static_cast<size_t>(found - numbers_.begin());
}

}  // namespace mpsd
