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

// Stands in front of a model's Pool. A request of at most a batch goes on to the pool. A larger one
// has a PartedRun here, and its parts lie in the pool, which bounds them. The run reads the
// payloads from the client's message, so Reserve() says `later`.
//
// Owned by its ServedModel; owns the pool. Thread-safe.
class PartedQueue final : public RequestQueue {
 public:
  // `answers` bounds the bytes of answered parts that wait for others; it outlives this.
  PartedQueue(std::unique_ptr<RowQueue> pool, ByteAllowance* answers)
      : pool_(std::move(pool)), answers_(answers) {}

  // RequestQueue.
  RowQueue* RowsFor(const Request& request) override {
    return IsCut(request) ? nullptr : pool_.get();
  }
  absl::Status Reserve(Request* request, RowTargets* targets) override
      ABSL_LOCKS_EXCLUDED(entry_mu_);
  void Cancel(Request* request) override;
  void Close() override ABSL_LOCKS_EXCLUDED(entry_mu_);

 private:
  // Whether the request has more rows than a batch.
  static bool IsCut(const Request& request);

  const std::unique_ptr<RowQueue> pool_;
  ByteAllowance* const answers_;

  // Held by readers while they reserve a request's parts, and by Close(). So the pool takes all
  // parts of a request or none, and a model can be replaced without losing a request. The pool's
  // Reserve() and Close() are called under it, with whatever they call.
  absl::Mutex entry_mu_;

  RunTable runs_{this};  // without bounds: the pool has them
};

}  // namespace mpsd
