// SampleInputs: the tensors of a warm-up run.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "proto/link/warm_up_sample.h"
#include "worker/model/model.h"

namespace mpsd {

// Memory of zeros, aligned as slabs are. Thread-compatible.
class Zeros {
 public:
  char* Get(uint64_t bytes);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::vector<std::unique_ptr<char, Free>> memory_;
};

// In the order of the model's inputs. `tensors` point into `memory`.
struct SampleInputs {
  Zeros memory;
  std::vector<InputTensor> tensors;
};

// Random inputs are the same at each call. INVALID_ARGUMENT names an input that the sample lacks,
// that is too large to count, or whose datatype, dims, rows or data do not fit the model.
// Thread-safe.
absl::StatusOr<SampleInputs> MakeSampleInputs(const ModelSpec& spec, const WarmUpSample& sample);

}  // namespace mpsd
