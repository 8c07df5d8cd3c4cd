// FakeModel: a model that does what a test says.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "worker/model/model.h"

namespace mpsd {

// Thread-safe as far as the test's function is.
class FakeModel final : public Model {
 public:
  using RunFunction =
      std::function<absl::Status(absl::Span<const InputTensor>, uint32_t rows, OutputSink*)>;

  FakeModel(ModelSpec spec, RunFunction run, std::string device = "cpu")
      : spec_(std::move(spec)), run_(std::move(run)), device_(std::move(device)) {}

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return device_; }
  bool wants_row_buckets() const override { return row_buckets; }
  bool leaves_padding_out() const override { return packs; }
  absl::Status BindLane(uint32_t) override { return bind_status; }
  absl::Status Run(uint32_t, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override {
    return run_(inputs, row_count, sink);
  }

  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override {
    return answer ? answer(inputs, index, sink) : Model::Answer(lane, inputs, index, sink);
  }

  bool gives_memory_back() const override { return true; }
  uint64_t UnusedMemoryBytes() override { return unused_bytes; }
  void ReleaseUnusedMemory() override { unused_bytes = 0; }

  absl::Status bind_status;               // set before any lane binds
  bool row_buckets = false;               // likewise
  bool packs = false;                     // likewise
  std::atomic<uint64_t> unused_bytes{0};  // that ReleaseUnusedMemory() gives back
  std::function<absl::StatusOr<bool>(absl::Span<const InputTensor>, uint32_t index, OutputSink*)>
      answer;  // for decoupled models

 private:
  const ModelSpec spec_;
  const RunFunction run_;
  const std::string device_;
};

// Output i is input i, bit for bit.
inline absl::Status EchoInputs(absl::Span<const InputTensor> inputs, uint32_t, OutputSink* sink) {
  for (const InputTensor& input : inputs) {
    void* output = input.datatype == DataType::kBytes ? sink->AddBytes(input.dims, input.bytes)
                                                      : sink->Add(input.datatype, input.dims);
    if (output != nullptr && input.bytes > 0) std::memcpy(output, input.data, input.bytes);
  }
  return absl::OkStatus();
}

}  // namespace mpsd
