// Sequence: requests that a model answers one after the other, and what is kept between them.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"
#include "server/telemetry/sequence_end.h"

namespace mpsd {

// What distinguishes a sequence from others of its model: the same id of another tenant is another
// one. A value.
struct SequenceKey {
  uint64_t number = 0;  // the client's id, or its name
  std::string name;
  uint32_t tenant = 0;
  uint64_t rules_version = 0;  // of the rules that numbered the tenant

  // REQUIRES: the request says its sequence.
  static SequenceKey Of(const Request& request);

  // "7", or the escaped name.
  std::string Text() const;

  bool operator==(const SequenceKey&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const SequenceKey& key) {
    return H::combine(std::move(h), key.number, key.name, key.tenant, key.rules_version);
  }
};

// A request of a sequence.
struct Turn {
  Request* request = nullptr;
  bool starts = false;
  bool ends = false;
};

// Owned by the SequenceTable while it is open, and by its turn that runs. The table's fields are
// guarded by the table's owner; the state is used by the turn that runs, and no other, so that no
// lock is needed. Thread-compatible.
class Sequence {
 public:
  // `bytes` of the allowance are taken already, and are given back at the end.
  Sequence(SequenceKey sequence_key, uint64_t bytes, ByteAllowance* allowance)
      : key(std::move(sequence_key)), state_bytes_(bytes), allowance_(allowance) {}
  ~Sequence() { allowance_->GiveBack(state_bytes_); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // The state is zeros. Called by each turn that starts.
  void ClearState();

  // A range of the state. REQUIRES: ClearState() was called.
  char* state(uint64_t offset) { return state_.get() + offset; }

  const SequenceKey key;

  // Of the table.
  uint64_t pin = 0;                   // of its lane; 0: it waits for one
  std::deque<Turn> waiting;           // in the order in which they came
  Request* running = nullptr;         // of the turn that is in the pool; null: none is
  bool is_ready = false;              // in the table's list of those
  bool is_closed = false;             // not open any more
  std::optional<SequenceEnd> ending;  // it is closed when no turn is left, for that reason
  absl::Status lost;                  // not OK: its running turn ends so, unless it is answered
  int64_t idle_since_ns = 0;          // while it is in the table's list of those
  std::optional<std::list<Sequence*>::iterator> idle_place;
  std::optional<std::list<Sequence*>::iterator> backlog_place;  // in that of those without a lane

 private:
  const uint64_t state_bytes_;
  ByteAllowance* const allowance_;
  std::unique_ptr<char[]> state_;
};

}  // namespace mpsd
