// BarInputs: the inputs of all lanes of a bar.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "load_tests/bars/bar_task.h"
#include "worker/model/model.h"

namespace mpsd::load {

// For each lane and task: the task's number, one INT64, and random floats from -1 to 1, different
// for each lane. All lie in read-only pages, like slabs. Thread-safe once made on the main thread.
class BarInputs {
 public:
  BarInputs(std::vector<BarTask> tasks, uint32_t lanes, uint64_t seed);
  BarInputs(const BarInputs&) = delete;
  BarInputs& operator=(const BarInputs&) = delete;
  ~BarInputs();

  const std::vector<BarTask>& tasks() const { return tasks_; }
  std::array<InputTensor, 2> Of(uint32_t lane, size_t task) const;

  const void* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  char* PlaceOf(uint32_t lane, size_t task) const;

  const std::vector<BarTask> tasks_;
  std::vector<uint64_t> offsets_;  // start of each task in a lane's part
  uint64_t lane_bytes_ = 0;
  uint64_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace mpsd::load
