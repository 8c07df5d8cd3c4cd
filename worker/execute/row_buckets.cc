#include "worker/execute/row_buckets.h"

#include <cstring>
#include <optional>

#include "proto/base/shape.h"

namespace mpsd {
namespace {

// Takes the outputs of a bucket's rows and passes on only the first rows.
class FirstRowsSink final : public OutputSink {
 public:
  FirstRowsSink(uint32_t rows, uint32_t bucket, std::deque<std::string>* memory, OutputSink* sink)
      : rows_(rows), bucket_(bucket), memory_(memory), sink_(sink) {}

  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    const std::optional<uint64_t> bytes = TensorBytes(datatype, dims);
    if (!bytes.has_value() || dims.empty() || dims[0] != bucket_) return sink_->Add(datatype, dims);
    Dims kept(dims.begin(), dims.end());
    kept[0] = rows_;
    void* const target = sink_->Add(datatype, kept);
    if (target == nullptr) return nullptr;
    if (memory_->size() <= targets_.size()) memory_->emplace_back();
    std::string& scratch = (*memory_)[targets_.size()];
    if (scratch.size() < *bytes) scratch.resize(*bytes);
    targets_.push_back({target, *bytes / bucket_ * rows_});
    return scratch.data();
  }

  // A model whose outputs are strings does not want buckets.
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override {
    return sink_->AddBytes(dims, bytes);
  }

  void FailRow(uint32_t row, absl::string_view why) override {
    if (row < rows_) sink_->FailRow(row, why);
  }

  void HandOn() const {
    for (size_t i = 0; i < targets_.size(); ++i) {
      std::memcpy(targets_[i].data, (*memory_)[i].data(), targets_[i].bytes);
    }
  }

 private:
  struct Target {
    void* data;
    uint64_t bytes;
  };

  const uint32_t rows_;
  const uint32_t bucket_;
  std::deque<std::string>* const memory_;
  OutputSink* const sink_;
  std::vector<Target> targets_;
};

bool HasRows(const InputTensor& input, uint32_t row_count) {
  return input.is_left_out() || (!input.dims.empty() && input.dims[0] == row_count);
}

}  // namespace

std::vector<uint32_t> RowBucketsUpTo(uint32_t rows_max) {
  std::vector<uint32_t> buckets;
  for (uint32_t rows = 1; rows < rows_max; rows *= 2) buckets.push_back(rows);
  buckets.push_back(rows_max);
  return buckets;
}

std::vector<uint32_t> RowCountsOf(const Model& model) {
  const ModelSpec& spec = model.spec();
  if (!spec.batches() || spec.max_batch_size == 1) return {1};
  if (model.traits().wants_row_buckets) return RowBucketsUpTo(spec.max_batch_size);
  return {1, spec.max_batch_size};
}

std::vector<InputTensor> RowBuckets::Padded(absl::Span<const InputTensor> inputs,
                                            uint32_t row_count, uint32_t bucket) {
  std::vector<InputTensor> padded(inputs.begin(), inputs.end());
  inputs_.resize(std::max(inputs_.size(), inputs.size()));
  for (size_t i = 0; i < padded.size(); ++i) {
    if (inputs[i].is_left_out()) continue;
    const uint64_t row_bytes = inputs[i].bytes / row_count;
    std::string& memory = inputs_[i];
    if (memory.size() < row_bytes * bucket) memory.resize(row_bytes * bucket);
    std::memcpy(memory.data(), inputs[i].data, inputs[i].bytes);
    const char* const last = memory.data() + row_bytes * (row_count - 1);
    for (uint32_t row = row_count; row < bucket; ++row) {
      std::memcpy(memory.data() + row_bytes * row, last, row_bytes);
    }
    padded[i].data = memory.data();
    padded[i].bytes = row_bytes * bucket;
    padded[i].dims[0] = bucket;
  }
  return padded;
}

absl::Status RowBuckets::Run(absl::Span<const InputTensor> inputs, uint32_t row_count,
                             OutputSink* sink) {
  const auto has_rows = [row_count](const InputTensor& input) { return HasRows(input, row_count); };
  if (!model_->traits().wants_row_buckets || !std::all_of(inputs.begin(), inputs.end(), has_rows)) {
    return model_->Run(lane_, inputs, row_count, sink);
  }
  const uint32_t rows_max = std::max(row_count, model_->spec().max_batch_size);
  const uint32_t bucket = RowBucketOf(row_count, rows_max);
  if (bucket == row_count) return model_->Run(lane_, inputs, row_count, sink);
  FirstRowsSink first_rows(row_count, bucket, &outputs_, sink);
  absl::Status status = model_->Run(lane_, Padded(inputs, row_count, bucket), bucket, &first_rows);
  if (status.ok()) first_rows.HandOn();
  return status;
}

}  // namespace mpsd
