// SequencePolicy: how a model serves sequences; SequenceMark: a request's part in one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr uint32_t kDefaultCandidates = 1024;
inline constexpr uint32_t kMaxCandidates = 65536;
inline constexpr int64_t kDefaultSequenceIdleNs = 1'000'000'000;

// An input with one element a row, about the sequence.
struct SequenceControl {
  std::string input;  // empty: none
  double no = 0;
  double yes = 1;

  bool operator==(const SequenceControl&) const = default;
};

// The front end keeps `output` and gives it as `input` the next time. Starts with zeros.
struct SequenceState {
  std::string input;
  std::string output;
  bool is_told = false;  // clients get the output too

  bool operator==(const SequenceState&) const = default;
};

// The config's `sequences`, or Triton's `sequence_batching`. SequencePlan
// (server/compose/sequences) checks it against the spec. A value.
struct SequencePolicy {
  bool is_direct = false;                    // the name in a config.pbtxt; only told to clients
  uint32_t candidates = kDefaultCandidates;  // limit of open ones on a lane
  int64_t idle_ns = kDefaultSequenceIdleNs;  // one without a request closes then
  SequenceControl start;                     // first request
  SequenceControl ready;                     // always true
  SequenceControl end;                       // last request
  std::string id_input;                      // gets the id; may be empty
  std::vector<SequenceState> states;

  // An input that no client sends.
  bool Supplies(absl::string_view input) const {
    if (input == start.input || input == ready.input || input == end.input) return true;
    return input == id_input ||
           std::any_of(states.begin(), states.end(),
                       [input](const SequenceState& state) { return state.input == input; });
  }

  // An output that no client gets.
  bool Keeps(absl::string_view output) const {
    return std::any_of(states.begin(), states.end(), [output](const SequenceState& state) {
      return state.output == output && !state.is_told;
    });
  }

  bool operator==(const SequencePolicy&) const = default;
};

// A request's parameters "sequence_id", "sequence_start" and "sequence_end". 0 or an empty text is
// no id. A value.
struct SequenceMark {
  uint64_t number = 0;
  std::string name;
  bool starts = false;
  bool ends = false;

  bool has_id() const { return number != 0 || !name.empty(); }
};

}  // namespace mpsd
