// A libnvidia-ml.so.1 without a driver. The file that FAKE_NVML names has a line for each gpu:
// percent busy (-1: the driver does not say), bytes used, bytes in all, and PID:BYTES of each
// process. Without the variable there is no driver. A file that says "hang" makes calls last for
// ever.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

std::vector<std::string> Lines() {
  std::ifstream file(getenv("FAKE_NVML"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  while (!lines.empty() && lines[0] == "hang") pause();
  return lines;
}

// A handle is the gpu's number and 1.
std::istringstream LineOf(void* device) {
  const std::vector<std::string> lines = Lines();
  const size_t index = reinterpret_cast<size_t>(device) - 1;
  return std::istringstream(index < lines.size() ? lines[index] : "");
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return getenv("FAKE_NVML") == nullptr ? kDriverNotLoaded : 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Lines().size());
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(size_t{index} + 1);
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "GPU-%zu", reinterpret_cast<size_t>(device) - 1);
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  int busy = -1;
  LineOf(device) >> busy;
  utilization->gpu = static_cast<unsigned>(busy);
  return busy < 0 ? kNotSupported : 0;
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  int busy = 0;
  LineOf(device) >> busy >> memory->used >> memory->total;
  memory->free = memory->total - memory->used;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  std::istringstream line = LineOf(device);
  std::string word;
  std::vector<Process> all;
  while (line >> word) {
    const size_t colon = word.find(':');
    if (colon == std::string::npos) continue;
    all.push_back(
        {static_cast<unsigned>(std::stoul(word)), std::stoull(word.substr(colon + 1)), 0, 0});
  }
  const bool fits = all.size() <= *count;
  *count = static_cast<unsigned>(all.size());
  for (size_t i = 0; fits && i < all.size(); ++i) processes[i] = all[i];
  return fits ? 0 : kInsufficientSize;
}

}  // extern "C"
