// trial_run: runs of a model before it serves, whose outputs are kept and compared.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "worker/model/model.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

// The largest shape gets fewer rows if an input would take more than this.
inline constexpr uint64_t kTrialInputBytes = 16ULL << 20;

// Four rows at the first bucket, and max_batch_size rows at the last bucket. One shape if both are
// equal. Pure.
std::vector<TrialShape> TrialShapes(const ModelSpec& spec);

// kPositive: floats from 1 to 2, which every operator takes. kSigned: the same with either sign.
enum class TrialFill { kPositive, kSigned };

// One trial run's inputs. Whole numbers lie in the model's range for the input, strings are empty.
// Equal seeds make equal inputs. Thread-compatible.
class TrialInputs {
 public:
  TrialInputs(const Model& model, TrialShape shape, TrialFill fill, uint32_t seed);

  absl::Span<const InputTensor> tensors() const { return tensors_; }
  uint32_t rows() const { return rows_; }

 private:
  const uint32_t rows_;
  std::vector<InputTensor> tensors_;
  std::vector<std::unique_ptr<std::string>> memory_;
};

struct KeptOutput {
  DataType datatype = DataType::kInvalid;
  std::string bytes;
};

// Lives on the thread of the run, and is constant afterwards.
class KeptOutputs final : public OutputSink {
 public:
  void* Add(DataType datatype, absl::Span<const int64_t> dims) override;
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override;
  void FailRow(uint32_t row, absl::string_view why) override;

  const std::vector<std::unique_ptr<KeptOutput>>& outputs() const { return outputs_; }
  const std::set<uint32_t>& failed_rows() const { return failed_rows_; }

 private:
  void* Keep(DataType datatype, uint64_t bytes);

  std::vector<std::unique_ptr<KeptOutput>> outputs_;  // pointers keep the bytes in place
  std::set<uint32_t> failed_rows_;
};

}  // namespace mpsd
