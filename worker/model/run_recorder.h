// RunRecorder: records a model's runs on a lane, and replays them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "worker/model/run_prices.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

struct InputTensor;

// Part of a model without strings and with one answer to a request. Lanes record while they warm up
// (record_runs.h). Shapes() is thread-safe; each lane calls the rest on its own thread, after
// BindLane().
class RunRecorder {
 public:
  virtual ~RunRecorder() = default;

  // The largest first. Constant.
  virtual std::vector<TrialShape> Shapes() const = 0;

  // Records a run of these inputs, whose numbers do not matter. Model::Run() on this lane then
  // answers batches of their size by a replay, and smaller batches if SetPrice() shows that this is
  // faster. FAILED_PRECONDITION: the run cannot be recorded; other errors as for Run(). After an
  // error nothing is kept.
  virtual absl::Status Record(uint32_t lane, absl::Span<const InputTensor> inputs,
                              uint32_t row_count) = 0;
  virtual void SetPrice(uint32_t lane, absl::Span<const InputTensor> inputs,
                        const RunPrice& price) = 0;

  virtual void Drop(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count) = 0;
};

// 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, … and `rows_max`: a batch fills at least two thirds of a
// large record. Pure.
std::vector<uint32_t> RecordedRows(uint32_t rows_max);

// Each of RecordedRows() at each bucket of the padded dims, the largest first: later records find
// room in what an earlier one has freed. Empty if an open dim is not padded. Pure.
std::vector<TrialShape> RecordShapes(const ModelSpec& spec);

}  // namespace mpsd
