// RunTable: the runs of a queue's requests.
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

struct RunBounds {
  size_t requests = SIZE_MAX;
  uint64_t bytes = UINT64_MAX;  // bytes of their inputs
};

// Finds a request's run, and bounds what is inside. Owned by a RequestQueue. Thread-safe; calls
// nothing under its mutex.
class RunTable {
 public:
  // `inside` counts the requests inside too; it may be null.
  explicit RunTable(RequestQueue* queue, const RunBounds& bounds = {},
                    std::atomic<int64_t>* inside = nullptr)
      : queue_(queue), bounds_(bounds), inside_(inside) {}
  // REQUIRES: no request is inside.
  ~RunTable();

  // ABORTED after Close(), RESOURCE_EXHAUSTED beyond the bounds; then nothing has changed.
  absl::Status Enter(Request* request, uint64_t bytes, const std::shared_ptr<ChildRun>& run)
      ABSL_LOCKS_EXCLUDED(mu_);

  void Leave(Request* request) ABSL_LOCKS_EXCLUDED(mu_);

  // Does nothing if the request has ended.
  void Cancel(Request* request, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  RequestQueue* const queue_;
  const RunBounds bounds_;
  std::atomic<int64_t>* const inside_;

  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const Request*, std::shared_ptr<ChildRun>> runs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
