// RunTable: the runs of a queue's requests that are made of others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/request/request.h"

namespace mpsd {

class ChildRun;

// Limits of what may be inside. A value.
struct RunBounds {
  size_t requests = SIZE_MAX;
  uint64_t bytes = UINT64_MAX;  // bytes of their inputs
};

// Finds a request's run, and bounds what is inside. Owned by a RequestQueue, which has the
// requests. Thread-safe; calls nothing under its mutex.
class RunTable {
 public:
  // `queue` owns this. `inside` counts the requests inside too; it may be null, and outlives
  // this.
  explicit RunTable(RequestQueue* queue, const RunBounds& bounds = {},
                    std::atomic<int64_t>* inside = nullptr)
      : queue_(queue), bounds_(bounds), inside_(inside) {}
  // REQUIRES: no request is inside.
  ~RunTable();

  // The queue has the request from now on, whose inputs have so many bytes. ABORTED after Close(),
  // RESOURCE_EXHAUSTED beyond the bounds; then nothing has changed.
  absl::Status Enter(Request* request, uint64_t bytes, const std::shared_ptr<ChildRun>& run)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The request ends now: nobody finds the run by it any more.
  void Leave(Request* request) ABSL_LOCKS_EXCLUDED(mu_);

  // Cancels the request's run, unless the request has ended.
  void Cancel(Request* request, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  RequestQueue* const queue_;
  const RunBounds bounds_;
  std::atomic<int64_t>* const inside_;

  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // bytes of the inputs inside
  absl::flat_hash_map<const Request*, std::shared_ptr<ChildRun>> runs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
