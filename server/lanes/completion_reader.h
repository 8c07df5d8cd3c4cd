// ReadCompletion: takes a completion record out of a worker's memory and checks each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "proto/shm/layout.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// What the front end itself knows of the batch: a completion that differs is a lie.
struct ExpectedCompletion {
  uint64_t batch_id = 0;
  uint32_t row_count = 0;
  uint32_t answer_index = 0;
  uint64_t lease_bytes = 0;
  const char* lease_data = nullptr;
  int64_t batched_ns = 0;
  int64_t now_ns = 0;
};

// Copies the record once, checks the copy, and fills outputs, row_failed, failure, part and times
// of `batch`. Sets `needed_bytes` to the lease that the worker asks for, or to 0. INVALID_ARGUMENT,
// with a text that names the lie, when a field cannot be true: the caller has the worker killed.
// Thread-safe.
absl::Status ReadCompletion(const CompletionRecord& record, const ExpectedCompletion& expected,
                            const ModelSpec& spec, CompletedBatch* batch, uint64_t* needed_bytes);

}  // namespace mpsd
