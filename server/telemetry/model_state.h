// ModelState: a version's state as operators see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

// With kRefused its config or its load is at fault, and no worker tries it again. With kUnavailable
// its workers have failed, and are tried again.
enum class ModelState { kReady, kLoading, kUnavailable, kRefused };

// A contract with operators: alerts name them.
inline constexpr const char* kModelStateNames[] = {"ready", "loading", "unavailable", "refused"};
inline constexpr size_t kModelStates = 4;

// The runtime of one worker. The texts are printable. A value.
struct RuntimeSample {
  uint32_t worker = 0;
  std::string device;           // "cuda:1"
  std::string runtime;          // "torch 2.11.0"
  std::string kind;             // kind of libtorch: "stock"
  std::string path;             // libtorch's library
  std::string driver_guard;     // "none", "held", "missing"
  std::string input_memory;     // "none", "in_place", "copied"
  double slowness = 1;          // multiple of the others' batch time
  uint64_t resident_bytes = 0;  // 0: no process
  double cpu_seconds = 0;
  int64_t pid = 0;
};

struct ModelStateSample {
  std::string model;
  std::string version;  // empty: a refused model's versions cannot be listed
  ModelState state = ModelState::kLoading;
  std::string precision;                  // empty: not loaded yet
  std::vector<RuntimeSample> runtimes{};  // for each worker that has loaded it
  uint64_t max_batch_tokens = 0;          // 0: any number
};

}  // namespace mpsd
