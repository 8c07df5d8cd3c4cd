// SequencePolicy: how a model serves sequences; SequenceMark: a request's facts about its own.
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

// An input that tells the model about a sequence: one element a row.
struct SequenceControl {
  std::string input;  // empty: none
  double no = 0;
  double yes = 1;

  bool operator==(const SequenceControl&) const = default;
};

// A tensor that the front end keeps between two requests of a sequence: the model's `output` is its
// `input` the next time. It starts with zeros.
struct SequenceState {
  std::string input;
  std::string output;
  bool is_told = false;  // clients may have the output too

  bool operator==(const SequenceState&) const = default;
};

// The config's `sequences`, or Triton's `sequence_batching`. Part of a model's config and of its
// facts: SequencePlan (server/compose/sequences) checks it against the model's spec. A value.
struct SequencePolicy {
  bool is_direct = false;                    // name in a config.pbtxt; clients are told the same
  uint32_t candidates = kDefaultCandidates;  // limit of open sequences on a lane
  int64_t idle_ns = kDefaultSequenceIdleNs;  // without a request one closes after this time
  SequenceControl start;                     // the request is the first of its sequence
  SequenceControl ready;                     // the row is a request: always true
  SequenceControl end;                       // the request is the last of its sequence
  std::string id_input;                      // gets the sequence's id; may be empty
  std::vector<SequenceState> states;

  // Whether the front end supplies that input: no client sends it.
  bool Supplies(absl::string_view input) const {
    if (input == start.input || input == ready.input || input == end.input) return true;
    return input == id_input ||
           std::any_of(states.begin(), states.end(),
                       [input](const SequenceState& state) { return state.input == input; });
  }

  // Whether the front end keeps that output to itself.
  bool Keeps(absl::string_view output) const {
    return std::any_of(states.begin(), states.end(), [output](const SequenceState& state) {
      return state.output == output && !state.is_told;
    });
  }

  bool operator==(const SequencePolicy&) const = default;
};

// A request's parameters "sequence_id", "sequence_start" and "sequence_end". An id is a number or a
// text; 0 or an empty text is none. A value.
struct SequenceMark {
  uint64_t number = 0;
  std::string name;
  bool starts = false;
  bool ends = false;

  bool has_id() const { return number != 0 || !name.empty(); }
};

}  // namespace mpsd
