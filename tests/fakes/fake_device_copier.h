// FakeDeviceCopier: a device whose memories are texts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/copier_records.h"
#include "server/request/device_copier.h"

namespace mpsd {

// The handle of the memory that this character names.
inline std::string FakeHandle(char name) { return std::string(kDeviceHandleBytes, name); }

// Runs its tasks when told to. Lives on the test's thread.
class FakeDeviceCopier final : public DeviceCopier {
 public:
  bool ready() const override { return true; }
  absl::Status Enqueue(std::function<void()> task) override {
    if (!refusal.ok()) return refusal;
    tasks.push_back(std::move(task));
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> Open(const DeviceMemory& memory) override {
    const auto found = memories.find(memory.handle[0]);
    if (found == memories.end() || found->second.size() < memory.bytes) {
      return absl::InvalidArgumentError("it is not there");
    }
    opened[++last_] = memory.handle[0];
    return last_;
  }
  absl::Status Read(uint64_t region, uint64_t offset, absl::Span<char> target) override {
    if (!fault.ok()) return fault;
    const std::string& memory = memories[opened.at(region)];
    std::copy_n(memory.begin() + static_cast<int64_t>(offset), target.size(), target.begin());
    return absl::OkStatus();
  }
  absl::Status Write(uint64_t region, uint64_t offset, absl::Span<const char> source) override {
    if (!fault.ok()) return fault;
    std::copy(source.begin(), source.end(),
              memories[opened.at(region)].begin() + static_cast<int64_t>(offset));
    return absl::OkStatus();
  }
  void Close(uint64_t region) override { EXPECT_EQ(opened.erase(region), 1u); }

  void RunTasks() {
    for (const std::function<void()>& task : std::exchange(tasks, {})) task();
  }

  std::map<char, std::string> memories;  // by the first byte of their handle
  std::map<uint64_t, char> opened;
  std::vector<std::function<void()>> tasks;
  absl::Status refusal;  // of every task
  absl::Status fault;    // of every copy

 private:
  uint64_t last_ = 0;
};

}  // namespace mpsd
