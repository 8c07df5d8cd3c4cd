// LeaseSink: puts a run's outputs into the batch's output lease and notes where each lies.
//
//   lease:   │ output 0      │ output 1   │   output 2 │ free │
//            ▲ 64-byte       ▲ aligned    ▲
//   record:  outputs[i] = {datatype, dims, offset, bytes}; row_failed[row]
//
// BatchExecutor completes the batch by the state of the sink:
//
//   not valid()            kFailed: a larger lease would not help
//   valid(), not fits()    kOutputTooLarge, with needed_bytes(): the batch comes again
//   valid() and fits()     kDone, or kAnswer for a decoupled model
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/shm/layout.h"
#include "worker/model/model.h"

namespace mpsd {

// Made for one run. The lease and the record belong to the slot. Lives on the lane's thread.
class LeaseSink final : public OutputSink {
 public:
  LeaseSink(char* lease, uint64_t lease_bytes, uint32_t row_count, CompletionRecord* record)
      : lease_(lease), lease_bytes_(lease_bytes), row_count_(row_count), record_(record) {}

  void* Add(DataType datatype, absl::Span<const int64_t> dims) override;
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override;
  void FailRow(uint32_t row, absl::string_view why) override;

  // needed_bytes() counts on after the lease is full. valid(): every output's datatype is known,
  // its size does not overflow, and there are not too many outputs.
  bool fits() const { return needed_bytes_ <= lease_bytes_; }
  bool valid() const { return valid_; }
  uint64_t needed_bytes() const { return needed_bytes_; }

 private:
  void* Place(DataType datatype, absl::Span<const int64_t> dims, std::optional<uint64_t> bytes);

  char* lease_;
  uint64_t lease_bytes_;
  uint32_t row_count_;
  CompletionRecord* record_;
  uint64_t needed_bytes_ = 0;
  bool valid_ = true;
};

// Copies at most kErrorTextBytes of `text`.
void SetText(CompletionRecord* record, absl::string_view text);

}  // namespace mpsd
