// GpuWatch: how busy NVIDIA's gpus are, and how much of their memory each process holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mpsd {

// One gpu of the host. A value.
struct GpuSample {
  uint32_t index = 0;  // NVML's, which CUDA_VISIBLE_DEVICES does not change
  std::string uuid;
  double busy = -1;  // share of the last moment, 0 to 1; below 0: not known
  uint64_t used_bytes = 0;
  uint64_t memory_bytes = 0;                // 0: not known
  std::map<int64_t, uint64_t> processes{};  // bytes by process, as far as NVML tells
};

// Asks NVML, the driver's own library, each second. Without the library or a driver there is
// neither a thread nor a gpu. A driver may hang: the thread "mpsd-gpus" alone waits for it. Owned
// by the daemon. Thread-safe.
class GpuWatch {
 public:
  static constexpr char kLibrary[] = "libnvidia-ml.so.1";

  explicit GpuWatch(const char* library = kLibrary);
  GpuWatch(const GpuWatch&) = delete;
  // Leaves the thread alone if the driver hangs.
  ~GpuWatch();

  // A second or two old; none if the driver has not answered for ten.
  std::vector<GpuSample> Samples() const;

 private:
  struct State;  // the thread's too, which may outlive the watch
  std::shared_ptr<State> state_;
};

}  // namespace mpsd
