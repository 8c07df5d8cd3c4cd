// KeepAwake: keeps the host awake while requests are inside.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// An assertion against the system's idle sleep; connects to the operating system. Lives on one
// thread. It ends with the process in any case.
class AwakeAssertion {
 public:
  virtual ~AwakeAssertion() = default;

  // From now on the host does not fall asleep by itself. An error says why it still may.
  virtual absl::Status Take() = 0;
  // The host may sleep again. REQUIRES: Take() was OK.
  virtual void GiveBack() = 0;

  // This host's; null if it needs none: a Linux server does not sleep unasked. Implemented in
  // awake_assertion_linux.cc and awake_assertion_macos.cc.
  static std::unique_ptr<AwakeAssertion> OfHost();
};

// Beside the request's path: the daemon owns it, and its thread `main` looks once a second; an idle
// host takes at least a minute before it sleeps. Does nothing without an assertion. If the system
// refuses one, that is logged once, and the host may sleep. Lives on one thread.
//
//   requests inside   ▁▁▁▇▇▇▁▁▇▇▁▁▁▁▁▁▁▁▁▁
//   assertion held    ▁▁▁▁▇▇▇▇▇▇▇▇▇▇▇▁▁▁▁▁
//                         ╰ first look  ╰ kQuietNs after the last look that found one
class KeepAwake {
 public:
  static constexpr int64_t kQuietNs = 5 * kNsPerSecond;

  // Clock and logger outlive it.
  KeepAwake(std::unique_ptr<AwakeAssertion> assertion, const Clock* clock, Logger* logger)
      : assertion_(std::move(assertion)), clock_(clock), logger_(logger) {}
  ~KeepAwake();

  // Takes or gives back the assertion. `inside` counts the daemon's requests in all models, waiting
  // ones included.
  void Look(int64_t inside);

 private:
  void Take();

  const std::unique_ptr<AwakeAssertion> assertion_;
  const Clock* const clock_;
  Logger* const logger_;
  int64_t busy_ns_ = 0;  // the last look that found requests
  bool held_ = false;
  bool refused_ = false;
};

}  // namespace mpsd
