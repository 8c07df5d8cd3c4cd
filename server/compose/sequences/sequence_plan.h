// SequencePlan: a model's policy of sequences, checked against its spec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/link/model_spec.h"
#include "server/request/sequence_policy.h"

namespace mpsd {

// The inputs that the front end supplies, and the outputs that it keeps: indices into the spec's. A
// value, constant once made.
struct SequencePlan {
  // One element of INT32, FP32 or BOOL.
  struct Control {
    uint32_t input = 0;
    size_t bytes = 0;
    std::array<char, 4> no{};
    std::array<char, 4> yes{};

    absl::string_view Value(bool is_so) const {
      return absl::string_view(is_so ? yes.data() : no.data(), bytes);
    }
  };

  // One element of UINT64, INT64, UINT32, INT32 or BYTES.
  struct Id {
    uint32_t input = 0;
    DataType datatype = DataType::kInvalid;
  };

  struct State {
    uint32_t input = 0;
    uint32_t output = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  std::optional<Control> start;
  std::optional<Control> ready;
  std::optional<Control> end;
  std::optional<Id> id;
  std::vector<State> states;
  uint64_t state_bytes = 0;

  // FAILED_PRECONDITION names a tensor that the spec lacks, or whose form is wrong: one row of a
  // state must have the same known size as input and as output. REQUIRES: the spec is complete.
  // Pure.
  static absl::StatusOr<SequencePlan> Of(const SequencePolicy& policy, const ModelSpec& spec);

  // INVALID_ARGUMENT if the model's input for the id cannot hold this one. Pure.
  absl::Status CheckId(const SequenceMark& mark) const;
};

}  // namespace mpsd
