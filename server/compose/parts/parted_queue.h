// PartedQueue: the queue of a model whose requests may have more rows than a batch.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/compose/run_table.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"

namespace mpsd {

// Stands in front of a model's Pool. A larger request has a PartedRun here, and its parts lie in
// the pool, which bounds them. The run reads the payloads from the client's message, so Reserve()
// says `later`. Owned by its ServedModel; owns the pool. Thread-safe.
class PartedQueue final : public RequestQueue {
 public:
  // `answers` bounds the bytes of answered parts that wait for others.
  PartedQueue(std::unique_ptr<RowQueue> pool, ByteAllowance* answers)
      : pool_(std::move(pool)), answers_(answers) {}

  RowQueue* RowsFor(const Request& request) override {
    return IsCut(request) ? nullptr : pool_.get();
  }
  absl::Status Reserve(Request* request, RowTargets* targets) override
      ABSL_LOCKS_EXCLUDED(entry_mu_);
  void Cancel(Request* request) override;
  void Close() override ABSL_LOCKS_EXCLUDED(entry_mu_);

 private:
  static bool IsCut(const Request& request);

  const std::unique_ptr<RowQueue> pool_;
  ByteAllowance* const answers_;

  // Readers hold it while they reserve a request's parts: the pool takes all of them or none, and a
  // model can be replaced without losing a request. The pool's Reserve() and Close() are called
  // under it.
  absl::Mutex entry_mu_;

  RunTable runs_{this};  // without bounds: the pool has them
};

}  // namespace mpsd
