// DeviceCopies: the thread `device-copies`, which orders copies and keeps the copier alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/link/sandbox_level.h"
#include "server/regions/device/copier_process.h"
#include "server/request/device_copier.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

struct DeviceCopiesOptions {
  CopierProcessOptions process;
  SandboxLevel sandbox = SandboxLevel::kBasic;  // strict: the copier must give up its rights
  int64_t start_ns = 30'000'000'000;            // for the driver to start
  int64_t open_ns = 15'000'000'000;             // a device's first use is slow
  int64_t copy_ns = 5'000'000'000;              // for one piece of a copy
  size_t tasks = 1024;                          // that may wait
};

// Only this thread ever waits for the copier.
//
//   no process ──spawn──▶ starting ──kDone──▶ ready ──dies, hangs, lies──▶ dying
//       ▲                    └──kNoDriver, kNoDevice, not confined──▶ absent │
//       └───────────────────────────────gone─────────────────────────────────┘
//
// A lost copier's copy is UNAVAILABLE. The next copier starts at once, later ones after the
// workers' backoff, and none before the killed one is gone; until then copies are UNAVAILABLE.
// Regions are reopened at their next use. A host without driver or device is asked once; copies are
// then UNIMPLEMENTED.
//
// At most `tasks` wait. Each order has a time-out, so every task ends, whatever the device does.
//
// Owned by the daemon, outlives the server and the regions; logger and metrics outlive it.
// Thread-safe, except the functions that DeviceCopier reserves for tasks.
class DeviceCopies final : public DeviceCopier {
 public:
  DeviceCopies(DeviceCopiesOptions options, Logger* logger, ServerMetrics* metrics)
      : options_(std::move(options)), logger_(logger), metrics_(metrics) {}
  ~DeviceCopies() override;

  // Called once, before anything else. The copier may not be ready() on return.
  absl::Status Start();

  // Takes no more tasks. Waiting ones run, but their copies are UNAVAILABLE; the present copy is
  // cut off. Does not wait. Idempotent.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  const std::string& binary() const { return options_.process.binary; }

  // Tasks that wait or run.
  size_t pending() const { return pending_.load(std::memory_order_acquire); }

  bool ready() const override { return ready_.load(std::memory_order_relaxed); }
  absl::Status Enqueue(std::function<void()> task) override ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<uint64_t> Open(const DeviceMemory& memory) override;
  absl::Status Read(uint64_t region, uint64_t offset, absl::Span<char> target) override;
  absl::Status Write(uint64_t region, uint64_t offset, absl::Span<const char> source) override;
  void Close(uint64_t region) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Region {
    DeviceMemory memory;
    uint64_t opened_in = 0;  // by this incarnation
  };

  void Main() ABSL_LOCKS_EXCLUDED(mu_);
  bool TakeTask(std::function<void()>* task, bool* idle) ABSL_LOCKS_EXCLUDED(mu_);
  void Sleep(int64_t timeout_ns);
  void CloseRegions() ABSL_LOCKS_EXCLUDED(mu_);
  int64_t KeepAlive();
  void StartProcess();
  void Spawned(const absl::StatusOr<CopyOutcome>& outcome);
  void Lose(const absl::Status& why);
  void KillProcess();
  void Forget();
  void EndProcess();
  absl::Status Usable() const;
  absl::Status OpenRegion(uint64_t number, Region* region);
  absl::Status Copy(CopyOrder order, int64_t timeout_ns);
  absl::Status Tell(const CopyOutcome& outcome) const;

  const DeviceCopiesOptions options_;
  Logger* const logger_;
  ServerMetrics* const metrics_;
  std::atomic<bool> ready_{false};
  std::atomic<size_t> pending_{0};
  CopierWaiter waiter_;  // the thread's, with its exceptions

  absl::Mutex mu_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  std::vector<uint64_t> closed_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  // Used by the thread only.
  std::unique_ptr<CopierProcess> process_;
  bool dying_ = false;  // killed, and not gone yet
  uint64_t incarnation_ = 0;
  uint32_t failures_ = 0;
  int64_t started_ns_ = 0;
  int64_t next_start_ns_ = 0;
  std::string absent_;  // why copies are impossible for good; empty: possible
  uint64_t last_region_ = 0;
  absl::flat_hash_map<uint64_t, Region> regions_;

  std::thread thread_;
};

}  // namespace mpsd
