#include "server/telemetry/gpu_watch.h"

#include <dlfcn.h>

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"

namespace mpsd {
// NVML's types and values, as nvml.h has them.
namespace nvml {

constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = ~0ULL;
using Device = void*;
struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct Api {
  int (*init)();
  int (*count)(unsigned*);
  int (*handle)(unsigned, Device*);
  int (*uuid)(Device, char*, unsigned);
  int (*utilization)(Device, Utilization*);
  int (*memory)(Device, Memory*);
  int (*processes)(Device, unsigned*, Process*);
};

}  // namespace nvml

namespace {

constexpr int64_t kOldNs = 10 * kNsPerSecond;
constexpr absl::Duration kInterval = absl::Seconds(1);

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// The library stays loaded: a call into it may never return.
bool Load(const char* name, nvml::Api* api) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && Find(library, "nvmlInit_v2", &api->init) &&
         Find(library, "nvmlDeviceGetCount_v2", &api->count) &&
         Find(library, "nvmlDeviceGetHandleByIndex_v2", &api->handle) &&
         Find(library, "nvmlDeviceGetUUID", &api->uuid) &&
         Find(library, "nvmlDeviceGetUtilizationRates", &api->utilization) &&
         Find(library, "nvmlDeviceGetMemoryInfo", &api->memory) &&
         Find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &api->processes);
}

std::map<int64_t, uint64_t> ProcessesOf(const nvml::Api& api, nvml::Device device) {
  std::vector<nvml::Process> found(64);
  auto count = static_cast<unsigned>(found.size());
  int result = api.processes(device, &count, found.data());
  if (result == nvml::kInsufficientSize && count <= 4096) {
    found.resize(count += 64);  // more may begin meanwhile
    result = api.processes(device, &count, found.data());
  }
  std::map<int64_t, uint64_t> bytes;
  if (result != nvml::kSuccess || count > found.size()) return bytes;
  for (unsigned i = 0; i < count; ++i) {
    if (found[i].used != nvml::kNotAvailable) bytes[found[i].pid] += found[i].used;
  }
  return bytes;
}

std::vector<GpuSample> Ask(const nvml::Api& api) {
  std::vector<GpuSample> samples;
  unsigned count = 0;
  if (api.count(&count) != nvml::kSuccess) return samples;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    if (api.handle(i, &device) != nvml::kSuccess) continue;
    GpuSample sample;
    sample.index = i;
    char uuid[97] = {};
    if (api.uuid(device, uuid, sizeof(uuid) - 1) == nvml::kSuccess) sample.uuid = uuid;
    nvml::Utilization utilization{};
    if (api.utilization(device, &utilization) == nvml::kSuccess)
      sample.busy = utilization.gpu / 100.0;
    nvml::Memory memory{};
    if (api.memory(device, &memory) == nvml::kSuccess) {
      sample.used_bytes = memory.used;
      sample.memory_bytes = memory.total;
    }
    sample.processes = ProcessesOf(api, device);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

struct GpuWatch::State {
  void Run() {
    platform::NameThread("mpsd-gpus");
    bool is_there = api.init() == nvml::kSuccess;
    while (is_there) {
      std::vector<GpuSample> fresh = Ask(api);
      {
        absl::MutexLock lock(&mu);
        samples = std::move(fresh);
        sampled_ns = Clock::Real()->NowNs();
      }
      is_there = !end.WaitForNotificationWithTimeout(kInterval);
    }
    has_ended.Notify();
  }

  nvml::Api api{};
  absl::Notification end;
  absl::Notification has_ended;
  absl::Mutex mu;
  std::vector<GpuSample> samples ABSL_GUARDED_BY(mu);
  int64_t sampled_ns ABSL_GUARDED_BY(mu) = 0;
};

GpuWatch::GpuWatch(const char* library) {
  auto state = std::make_shared<State>();
  if (!Load(library, &state->api)) return;
  state_ = std::move(state);
  std::thread([state = state_] { state->Run(); }).detach();
}

GpuWatch::~GpuWatch() {
  if (state_ == nullptr) return;
  state_->end.Notify();
  state_->has_ended.WaitForNotificationWithTimeout(absl::Seconds(1));
}

std::vector<GpuSample> GpuWatch::Samples() const {
  if (state_ == nullptr) return {};
  absl::MutexLock lock(&state_->mu);
  const bool is_old = Clock::Real()->NowNs() - state_->sampled_ns > kOldNs;
  return is_old ? std::vector<GpuSample>() : state_->samples;
}

}  // namespace mpsd
