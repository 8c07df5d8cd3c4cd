// What people are told about the workers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

struct ServedModel;

struct WorkerInfo {
  uint32_t index = 0;
  int64_t pid = 0;  // 0: no process
  uint32_t epoch = 0;
  std::string state;  // "loading", "warming up", "serving", "waiting to start"
  uint32_t lanes = 0;
  std::string device;
  uint64_t resident_bytes = 0;
  uint64_t restarts = 0;
  int64_t uptime_ms = 0;
  std::string last_exit;   // how the incarnation before ended
  std::string last_words;  // the last line it wrote, or its failure
};

// Thread-safe. Implemented by supervise/.
class WorkerStatusSource {
 public:
  virtual ~WorkerStatusSource() = default;
  virtual std::vector<WorkerInfo> Workers(const ServedModel& model) const = 0;
};

}  // namespace mpsd
