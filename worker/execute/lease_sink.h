// LeaseSink: puts a run's outputs into the batch's output lease and writes their places down.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/shm/layout.h"
#include "worker/model/model.h"

namespace mpsd {

// Lives on the lane's thread for one run. Owns nothing: lease and record are the lane's.
class LeaseSink final : public OutputSink {
 public:
  LeaseSink(char* lease, uint64_t lease_bytes, uint32_t row_count, CompletionRecord* record)
      : lease_(lease), lease_bytes_(lease_bytes), row_count_(row_count), record_(record) {}

  void* Add(DataType datatype, absl::Span<const int64_t> dims) override;
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override;
  void FailRow(uint32_t row, absl::string_view why) override;

  // False once an output did not fit, was of no serveable type, or was one too many.
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

// Copies `text` into the record, cut to what fits.
void SetText(CompletionRecord* record, absl::string_view text);

}  // namespace mpsd
