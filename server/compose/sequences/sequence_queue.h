// SequenceQueue: the queue of a model that keeps state between a client's requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/compose/child_request.h"
#include "server/compose/sequences/sequence_context.h"
#include "server/compose/sequences/sequence_plan.h"
#include "server/compose/sequences/sequence_table.h"
#include "server/compose/sequences/sequence_turn.h"
#include "server/request/pool_watcher.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Stands in front of a model's Pool. A request waits here for its turn, which SequenceTable
// decides. Payloads are read only then, so Reserve() says `later`.
//
//   Reserve ─▶ table ─▶ turn ─▶ pool, on one lane ─▶ ChildAnswered ─▶ reply, and the next turn
//                                                 └▶ ChildFailed
//
// No function of the pool or of a reply is called under the mutex. Owned by its ServedModel; owns
// the pool. Thread-safe.
class SequenceQueue final : public RequestQueue, public PoolWatcher, private ChildOwner {
 public:
  // No turn begins until `held_requests` wait for the first time. The caller has the pool report
  // its lanes to this.
  SequenceQueue(const ServedModel* model, std::unique_ptr<RowQueue> pool, uint64_t most_bytes,
                SequenceContext* context, uint32_t held_requests = 0);
  // REQUIRES: no request is inside.
  ~SequenceQueue() override;

  absl::Status Reserve(Request* request, RowTargets* targets) override ABSL_LOCKS_EXCLUDED(mu_);
  void Cancel(Request* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Close() override ABSL_LOCKS_EXCLUDED(mu_);

  void LanesJoined(absl::Span<const uint64_t> pins) override ABSL_LOCKS_EXCLUDED(mu_);
  void LanesLeft(absl::Span<const uint64_t> pins) override ABSL_LOCKS_EXCLUDED(mu_);
  void ExpectAt(int64_t when_ns) override ABSL_LOCKS_EXCLUDED(mu_);
  void Tick(int64_t now_ns) override ABSL_LOCKS_EXCLUDED(mu_);
  void FailAll(const char* text) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void ChildAnswered(ChildRequest* child, const Answer& answer) override ABSL_LOCKS_EXCLUDED(mu_);
  void ChildFailed(ChildRequest* child, const absl::Status& status) override
      ABSL_LOCKS_EXCLUDED(mu_);

  const SequencePlan& Plan() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Admit(Request* request) ABSL_LOCKS_EXCLUDED(mu_);
  // REQUIRES: the caller keeps this alive.
  void BeginTurns() ABSL_LOCKS_EXCLUDED(mu_);
  void BeginTurn(SequenceTurn* turn) ABSL_LOCKS_EXCLUDED(mu_);
  // Null if none may begin. `late` gets those whose time is over.
  std::shared_ptr<SequenceTurn> NextTurn(SequenceTable::TurnsToEnd* late) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the turn's owner.
  std::shared_ptr<SequenceTurn> Leave(SequenceTurn* turn, SequenceTable::Outcome outcome)
      ABSL_LOCKS_EXCLUDED(mu_);
  void FailTurn(SequenceTurn* turn, const absl::Status& status, SequenceTable::Outcome outcome)
      ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::shared_ptr<SequenceTurn>> RunningOn(absl::Span<const uint64_t> pins)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Carry(const SequenceTable::TurnsToEnd& to_end) ABSL_LOCKS_EXCLUDED(mu_);
  void Fail(Request* request, const absl::Status& status);

  const ServedModel* const model_;
  const std::unique_ptr<RowQueue> pool_;
  SequenceContext* const context_;

  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<SequencePlan> plan_ ABSL_GUARDED_BY(mu_);  // constant once set
  SequenceTable table_ ABSL_GUARDED_BY(mu_);
  uint32_t held_requests_ ABSL_GUARDED_BY(mu_);  // 0 once that many waited
  absl::flat_hash_map<const Request*, std::shared_ptr<SequenceTurn>> running_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
