#include "load_tests/bars/bar_inputs.h"

#include <sys/mman.h>

#include <algorithm>
#include <random>
#include <utility>

#include "proto/base/check.h"

namespace mpsd::load {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kNumberBytes = kAlignment;  // room for a task's number

uint64_t FloatBytes(const BarTask& task) {
  return TensorBytes(DataType::kFp32, task.dims).value_or(0);
}

}  // namespace

BarInputs::BarInputs(std::vector<BarTask> tasks, uint32_t lanes, uint64_t seed)
    : tasks_(std::move(tasks)) {
  for (const BarTask& task : tasks_) {
    offsets_.push_back(lane_bytes_);
    const uint64_t bytes = kNumberBytes + FloatBytes(task);
    lane_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  bytes_ = std::max(lane_bytes_ * lanes, kAlignment);
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MPSD_CHECK(data_ != MAP_FAILED);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (size_t task = 0; task < tasks_.size(); ++task) {
      char* place = PlaceOf(lane, task);
      *reinterpret_cast<int64_t*>(place) = static_cast<int64_t>(task);
      std::generate_n(reinterpret_cast<float*>(place + kNumberBytes),
                      FloatBytes(tasks_[task]) / sizeof(float), [&] { return number(random); });
    }
  }
  mprotect(data_, bytes_, PROT_READ);
}

BarInputs::~BarInputs() { munmap(data_, bytes_); }

std::array<InputTensor, 2> BarInputs::Of(uint32_t lane, size_t task) const {
  const char* place = PlaceOf(lane, task);
  return {InputTensor{place, sizeof(int64_t), DataType::kInt64, {1}},
          InputTensor{place + kNumberBytes, FloatBytes(tasks_[task]), DataType::kFp32,
                      tasks_[task].dims}};
}

char* BarInputs::PlaceOf(uint32_t lane, size_t task) const {
  return static_cast<char*>(data_) + lane * lane_bytes_ + offsets_[task];
}

}  // namespace mpsd::load
