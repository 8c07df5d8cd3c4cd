// Sequence: the requests of a sequence, and the state kept between them.
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

// The same id from another tenant is another sequence. A value.
struct SequenceKey {
  uint64_t number = 0;  // the client's id, if not a name
  std::string name;
  uint32_t tenant = 0;
  uint64_t rules_version = 0;  // version of the rules that numbered the tenant

  // REQUIRES: the request says its sequence.
  static SequenceKey Of(const Request& request);

  std::string Text() const;

  bool operator==(const SequenceKey&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const SequenceKey& key) {
    return H::combine(std::move(h), key.number, key.name, key.tenant, key.rules_version);
  }
};

struct Turn {
  Request* request = nullptr;
  bool starts = false;
  bool ends = false;
};

// Owned by the SequenceTable while it is open, and by its running turn. The table's owner guards
// the table's fields. Only the running turn uses the state, without a lock. Thread-compatible.
class Sequence {
 public:
  // `bytes` are taken already; the end gives them back.
  Sequence(SequenceKey sequence_key, uint64_t bytes, ByteAllowance* allowance)
      : key(std::move(sequence_key)), state_bytes_(bytes), allowance_(allowance) {}
  ~Sequence() { allowance_->GiveBack(state_bytes_); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // Called by each turn that starts.
  void ClearState();

  // REQUIRES: ClearState() was called.
  char* state(uint64_t offset) { return state_.get() + offset; }

  const SequenceKey key;

  // The table's fields.
  uint64_t pin = 0;            // 0: it waits for a lane
  std::deque<Turn> waiting;    // in order of arrival
  Request* running = nullptr;  // its turn is in the pool
  bool is_ready = false;       // in the table's list
  bool is_closed = false;
  std::optional<SequenceEnd> ending;  // why it closes once no turn is left
  absl::Status lost;                  // not OK: its running turn ends so, unless answered
  int64_t idle_since_ns = 0;          // in the table's list of idle sequences
  std::optional<std::list<Sequence*>::iterator> idle_place;
  // in the list of sequences without a lane
  std::optional<std::list<Sequence*>::iterator> backlog_place;

 private:
  const uint64_t state_bytes_;
  ByteAllowance* const allowance_;
  std::unique_ptr<char[]> state_;
};

}  // namespace mpsd
