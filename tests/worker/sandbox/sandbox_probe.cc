// sandbox_probe LEVEL [DEVICE]: a process that enters the sandbox as a worker does and makes every
// attempt, on the main thread and on a thread that existed before the calls were sealed. Prints a
// line for each attempt: name, reach, whether it takes privileges, the two outcomes. Then prints
// how long entering took.
#include <cstdio>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "tests/fakes/attempts.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {
namespace {

// Starts at once, and makes the attempts when told to.
class EarlyThread {
 public:
  EarlyThread() : thread_([this] { Main(); }) {}

  std::vector<int> MakeAttempts() {
    told_.Notify();
    thread_.join();
    return outcomes_;
  }

 private:
  void Main() {
    told_.WaitForNotification();
    for (const Attempt& attempt : Attempts()) outcomes_.push_back(attempt.run());
  }

  absl::Notification told_;
  std::vector<int> outcomes_;
  std::thread thread_;
};

int Probe(const char* level, const char* device) {
  LoadOrder order;
  const std::optional<SandboxLevel> known = FromName<SandboxLevel>(level);
  if (!known.has_value()) return 2;
  order.sandbox = *known;
  order.device = device;
  const int64_t begin_ns = Clock::Real()->NowNs();
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Enter(Sandbox::OptionsOf(order));
  const int64_t entered_ns = Clock::Real()->NowNs();
  if (!sandbox.ok()) {
    std::printf("%s\n", std::string(sandbox.status().message()).c_str());
    return 3;
  }
  EarlyThread thread;
  const int64_t seal_ns = Clock::Real()->NowNs();
  if (absl::Status status = sandbox->Seal(); !status.ok()) return 4;
  const int64_t sealed_ns = Clock::Real()->NowNs();
  const std::vector<int> early = thread.MakeAttempts();
  for (size_t i = 0; i < Attempts().size(); ++i) {
    const Attempt& attempt = Attempts()[i];
    std::printf("%s %d %d %d %d\n", attempt.name, static_cast<int>(attempt.reach),
                attempt.takes_privileges, attempt.run(), early[i]);
  }
  std::fprintf(stderr, "entered in %.3f ms, sealed in %.3f ms\n",
               static_cast<double>(entered_ns - begin_ns) / kNsPerMs,
               static_cast<double>(sealed_ns - seal_ns) / kNsPerMs);
  return 0;
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) {
  return mpsd::Probe(argc > 1 ? argv[1] : "basic", argc > 2 ? argv[2] : "cpu");
}
