// KeepAwake: keeps the host awake while requests are inside.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Against the system's idle sleep; connects to the operating system. Ends with the process in any
// case. Lives on one thread.
class AwakeAssertion {
 public:
  virtual ~AwakeAssertion() = default;

  // An error says why the host still may sleep.
  virtual absl::Status Take() = 0;
  // REQUIRES: Take() was OK.
  virtual void GiveBack() = 0;

  // Null on a host that needs none: a Linux server does not sleep unasked.
  static std::unique_ptr<AwakeAssertion> OfHost();
};

// The thread `main` looks once a second; an idle host takes at least a minute before it sleeps. A
// refusal is logged once. Owned by the daemon. Lives on one thread.
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

  // `inside` counts the requests of all models, waiting ones included.
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
