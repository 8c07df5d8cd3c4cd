// OpenCalls: bounds the calls that are open, and each client's share of each model's.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// The calls of one kind that are open, from their arrival to their last tag: those that wait for
// their message, for their model, or for their client to take the answer. A request of a stream
// counts as a call of ModelInfer, until its answer is written. A call beyond the bounds
// is refused at once. Owned by the GrpcServer, one ledger for each kind of call; the calls of all
// queue threads ask it. Never waits but for its mutex. Thread-safe.
//
// A model, and one client at it, may have open only as much as is left for all others: the calls of
// the model and those of this client at the model are together at most limit - open. So one client
// at one model gets a third of the limit, many clients at one model get half, and N models that do
// not answer leave a part of 1 / (N + 2). No share is configured, and none is lost while nobody
// needs it. A client is a host: the calls of one connection have a bound of their own in gRPC.
//
// Calls whose model is not known yet, or is none, have one account together, the model "".
class OpenCalls {
 public:
  // One call's place: in the count from Enter() on, and in one account at most. Must not outlive
  // the ledger. Thread-compatible.
  class Place {
   public:
    Place() = default;
    ~Place() { Leave(); }
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;

    // From now on the call counts for this model. RESOURCE_EXHAUSTED for the client when the model
    // or the client has its share; nothing has changed then. REQUIRES: the call has entered.
    absl::Status BelongTo(absl::string_view model);

    // From now on the call counts for no model: a name that no model has is not counted apart,
    // since a client can make up any number of them. Does nothing for a call without a place.
    void BelongToNone();

    // Gives the place back. Does nothing for a call that has none.
    void Leave();

   private:
    friend class OpenCalls;
    OpenCalls* calls_ = nullptr;
    uint64_t client_ = 0;      // a hash
    bool is_counted_ = false;  // in the accounts of these two
    uint64_t model_ = 0;       // a hash
    uint64_t pair_ = 0;        // of both
  };

  // `refused` counts the calls beyond the bounds, and outlives the ledger.
  OpenCalls(uint32_t limit, std::atomic<uint64_t>* refused) : limit_(limit), refused_(refused) {}

  // A call of this client has arrived. RESOURCE_EXHAUSTED for the client beyond the bounds: then
  // the call has no place. `peer` is the client's address as gRPC writes it. The caller says soon
  // what the call belongs to. REQUIRES: `place` is empty.
  absl::Status Enter(absl::string_view peer, Place* place) ABSL_LOCKS_EXCLUDED(mu_);

  // The same for a request of a stream, whose client is that of the stream's own place in whatever
  // ledger. REQUIRES: `stream` is not empty, `place` is.
  absl::Status EnterBeside(const Place& stream, Place* place) ABSL_LOCKS_EXCLUDED(mu_);

  // How many calls have a place.
  uint32_t count() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return count_;
  }

 private:
  // By the hashes of names. A hash has 64 bits and a seed of this process, so that no two of the
  // names that are open are alike in it. An account is there while it counts something, so there
  // are as many as calls at most.
  using Accounts = absl::flat_hash_map<uint64_t, uint32_t>;

  absl::Status EnterOf(uint64_t client, Place* place) ABSL_LOCKS_EXCLUDED(mu_);
  static uint32_t CountIn(const Accounts& accounts, uint64_t key);
  static void TakeOut(uint64_t key, Accounts* accounts);
  bool HasRoom(uint64_t model, uint64_t pair) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Move(absl::string_view model, Place* place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Uncount(Place* place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Refuse(absl::string_view text) const;

  const uint32_t limit_;
  std::atomic<uint64_t>* const refused_;

  mutable absl::Mutex mu_;
  uint32_t count_ ABSL_GUARDED_BY(mu_) = 0;
  Accounts of_model_ ABSL_GUARDED_BY(mu_);
  Accounts of_pair_ ABSL_GUARDED_BY(mu_);  // of a client and a model
};

// The host of a client's address as gRPC writes it: "ipv4:10.0.0.1" of "ipv4:10.0.0.1:4711". All
// clients of Unix sockets are one host. Pure.
absl::string_view HostOfPeer(absl::string_view peer);

}  // namespace mpsd
