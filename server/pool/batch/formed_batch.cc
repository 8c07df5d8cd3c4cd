#include "server/pool/batch/formed_batch.h"

#include <algorithm>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

bool IsBytes(const RequestInput& input) { return input.datatype == DataType::kBytes; }

// Whether the rows of `place` start right after the run.
bool Continues(const RowRun& run, const Slab& slab, const RowPlace& place) {
  return run.segment == slab.segment && run.slab_offset == slab.offset &&
         run.first_row + run.row_count == place.first_row;
}

}  // namespace

void FormedBatch::Clear() {
  entries.clear();
  runs.clear();
  inputs.clear();
  byte_counts.clear();
  bytes_inputs = 0;
  row_count = 0;
  latest_deadline_ns = 0;
}

bool FormedBatch::HasRoom(const Request& request, uint32_t max_rows) const {
  const size_t runs_then = runs.size() + 1;
  return row_count + request.rows <= max_rows && runs_then <= kMaxRuns &&
         runs_then * bytes_inputs <= kMaxByteCounts;
}

void FormedBatch::Append(Request* request, const Slab& slab) {
  if (entries.empty()) {
    inputs.assign(request->inputs.begin(), request->inputs.end());
    bytes_inputs = static_cast<uint32_t>(std::count_if(inputs.begin(), inputs.end(), IsBytes));
  }
  if (!runs.empty() && Continues(runs.back(), slab, request->place)) {
    runs.back().row_count += request->rows;
  } else {
    runs.push_back(
        {slab.segment, slab.row_capacity, request->place.first_row, request->rows, slab.offset});
    for (const RequestInput& input : request->inputs) {
      if (IsBytes(input)) byte_counts.push_back(input.tensor_bytes);
    }
  }
  entries.push_back({request, row_count, request->rows, request->place});
  row_count += request->rows;
  latest_deadline_ns = std::max(latest_deadline_ns, request->answer_deadline_ns());
  request->Go(RequestState::kRunning);
}

void CheckCovers(const FormedBatch& batch, const SlabTable& slabs) {
  auto run = batch.runs.begin();
  uint32_t row = 0;         // index in the batch
  uint32_t row_of_run = 0;  // index in *run
  for (const BatchEntry& entry : batch.entries) {
    MPSD_CHECK(entry.first_row == row);
    MPSD_CHECK(run != batch.runs.end());
    if (row_of_run == run->row_count) {
      ++run;
      row_of_run = 0;
      MPSD_CHECK(run != batch.runs.end());
    }
    const Slab& slab = slabs.slab(entry.place.slab);
    MPSD_CHECK(run->segment == slab.segment && run->slab_offset == slab.offset);
    MPSD_CHECK(run->row_capacity == slab.row_capacity);
    MPSD_CHECK(run->first_row + row_of_run == entry.place.first_row);
    row += entry.row_count;
    row_of_run += entry.row_count;
    MPSD_CHECK(row_of_run <= run->row_count);
  }
  MPSD_CHECK(batch.entries.empty() ? batch.runs.empty()
                                   : run + 1 == batch.runs.end() && row_of_run == run->row_count);
  MPSD_CHECK(row == batch.row_count);
}

}  // namespace mpsd
