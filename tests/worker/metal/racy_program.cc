// A program that knows nothing of a guard: its threads begin and end encoders of a driver which
// loses counts where two threads are in it. Says how many it has lost.
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/worker/metal/racy_driver.h"

namespace mpsd {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;
constexpr int kNoRuntime = 77;

const ObjectiveC* Runtime() {
  static const auto* const runtime =
      new absl::StatusOr<ObjectiveC>(ObjectiveC::Load(RuntimeLibrary()));
  return runtime->ok() ? &**runtime : nullptr;
}

void Encode(const RacyClasses& classes) {
  for (int i = 0; i < kRounds; ++i) {
    Runtime()->Send(classes.buffer, "computeCommandEncoder");
    Runtime()->Send(classes.encoder, "endEncoding");
  }
}

int Main() {
  if (Runtime() == nullptr) return kNoRuntime;
  const RacyClasses& classes = RacyClasses::Of(*Runtime());
  RacyDriver& driver = RacyDriver::Of();
  driver.Reset();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&classes] { Encode(classes); });
  for (std::thread& thread : threads) thread.join();
  const int64_t counted = driver.begun + driver.ended;
  std::printf("lost %d\n", static_cast<int>(2 * kThreads * kRounds - counted));
  return 0;
}

}  // namespace
}  // namespace mpsd

// Metal's name for what makes its device. Called by the guard's library before main().
extern "C" __attribute__((visibility("default"))) void* MTLCreateSystemDefaultDevice() {
  const mpsd::ObjectiveC* runtime = mpsd::Runtime();
  return runtime == nullptr ? nullptr : mpsd::RacyClasses::Of(*runtime).device;
}

int main() { return mpsd::Main(); }
