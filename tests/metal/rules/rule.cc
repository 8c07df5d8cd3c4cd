#include "tests/metal/rules/rule.h"

#include <cstdio>

namespace mpsd::standin {

BrokenRules& BrokenRules::All() {
  static auto* const all = new BrokenRules;  // threads of the gpu may outlive static objects
  return *all;
}

void BrokenRules::Add(const Rule& rule, const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t count = ++counts_[rule.name];
  if (count <= kMostLines) {
    std::fprintf(stderr, "metal stand-in: %s: %s: %s\n", rule.name, what.c_str(), rule.sentence);
  }
}

uint64_t BrokenRules::Count(const Rule& rule) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counts_.find(rule.name);
  return found == counts_.end() ? 0 : found->second;
}

uint64_t BrokenRules::Total() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  for (const auto& [name, count] : counts_) total += count;
  return total;
}

std::string BrokenRules::Summary() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string summary;
  for (const auto& [name, count] : counts_) {
    summary += (summary.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  return summary.empty() ? "none" : summary;
}

void BrokenRules::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.clear();
}

}  // namespace mpsd::standin
