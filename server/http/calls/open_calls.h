// OpenCalls: bounds open calls, and each client's share of each model's.
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

// The open calls of one kind, from arrival to end. A stream's request counts as a ModelInfer call
// until its answer is written. A call beyond the bounds is refused at once. Owned by the
// DoorBounds. Waits only for its mutex. Thread-safe.
//
// A model's calls, and one client's at that model, are together at most limit - open. So one client
// at one model gets a third of the limit, many clients at one model half. If N models do not
// answer, 1 / (N + 2) of the limit is left. A client is a host.
//
// Calls with an unknown model, or none, share the account of the model "".
class OpenCalls {
  // A call's accounts: hashes of the model, and of client and model.
  struct Keys {
    uint64_t model = 0;
    uint64_t pair = 0;
  };

 public:
  // One call's place, in at most one account. Must not outlive the ledger. Thread-compatible.
  class Place {
   public:
    Place() = default;
    ~Place() { Leave(); }
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;

    // The call counts for this model from now on. RESOURCE_EXHAUSTED, without a change, if the
    // model or the client has used its share. REQUIRES: the call has entered.
    absl::Status BelongTo(absl::string_view model);

    // The call counts for no model from now on: a client can invent any number of names that no
    // model has. Does nothing for a call without a place.
    void BelongToNone();

    void Leave();

   private:
    friend class OpenCalls;
    OpenCalls* calls_ = nullptr;
    uint64_t client_ = 0;      // a hash
    bool is_counted_ = false;  // in the accounts of `keys_`
    Keys keys_;
  };

  // `refused` counts refused calls, and outlives the ledger.
  OpenCalls(uint32_t limit, std::atomic<uint64_t>* refused);

  // A call of this client has arrived. RESOURCE_EXHAUSTED beyond the bounds: then the call has no
  // place. `peer` is an address as HostOfPeer() takes. BelongTo() or BelongToNone() follows soon.
  // REQUIRES: `place` is empty.
  absl::Status Enter(absl::string_view peer, Place* place) ABSL_LOCKS_EXCLUDED(mu_);

  // The same for a stream's request, which shares the client of `stream`, in any ledger. REQUIRES:
  // `stream` is not empty, `place` is.
  absl::Status EnterBeside(const Place& stream, Place* place) ABSL_LOCKS_EXCLUDED(mu_);

  uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  // Keyed by hashes of 64 bits with a seed of this process. An account exists while it counts
  // something, so there are at most as many as calls.
  using Accounts = absl::flat_hash_map<uint64_t, uint32_t>;

  static Keys KeysOf(absl::string_view model, uint64_t client);
  absl::Status EnterOf(uint64_t client, Place* place) ABSL_LOCKS_EXCLUDED(mu_);
  bool CountOne();
  static uint32_t CountIn(const Accounts& accounts, uint64_t key);
  static void TakeOut(uint64_t key, Accounts* accounts);
  bool HasRoom(const Keys& keys) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Move(const Keys& keys, Place* place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Uncount(Place* place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Refuse(absl::string_view text) const;

  const uint32_t limit_;
  std::atomic<uint64_t>* const refused_;
  const uint64_t none_;  // the key of no model

  std::atomic<uint32_t> count_{0};    // never above the limit
  std::atomic<uint32_t> of_none_{0};  // calls of no model; written under `mu_`

  absl::Mutex mu_;
  Accounts of_model_ ABSL_GUARDED_BY(mu_);
  Accounts of_pair_ ABSL_GUARDED_BY(mu_);  // by client and model
};

// "ipv4:10.0.0.1" for "ipv4:10.0.0.1:4711". All clients of Unix sockets are one host. Pure.
absl::string_view HostOfPeer(absl::string_view peer);

}  // namespace mpsd
