// ModelState: how a version of a model is, as operators see it: /metrics and `mpsd ps`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

// A version is in one state at a time. kRefused: it was found, and its config or its load is at
// fault; no worker tries it again. kUnavailable: its workers have failed, and are tried again.
enum class ModelState { kReady, kLoading, kUnavailable, kRefused };

// In the order of ModelState. A contract with operators: alerts name them.
inline constexpr const char* kModelStateNames[] = {"ready", "loading", "unavailable", "refused"};
inline constexpr size_t kModelStates = 4;

// What one worker runs its model with. The texts are printable. A value.
struct RuntimeSample {
  uint32_t worker = 0;
  std::string device;        // "cuda:1"
  std::string runtime;       // "torch 2.11.0"
  std::string kind;          // of libtorch: "stock"
  std::string path;          // of libtorch's library
  std::string driver_guard;  // "none", "held", "missing"
  std::string input_memory;  // "none", "in_place", "copied"
  double slowness = 1;       // how many times as long as the others its batches take
};

// One version and its state. A value.
struct ModelStateSample {
  std::string model;
  std::string version;  // empty: the versions of a refused model cannot be listed
  ModelState state = ModelState::kLoading;
  std::string precision;                  // that it computes in; empty: it was not loaded yet
  std::vector<RuntimeSample> runtimes{};  // of the workers that have loaded it
  uint64_t max_batch_tokens = 0;          // that its requests share; 0: any
};

}  // namespace mpsd
