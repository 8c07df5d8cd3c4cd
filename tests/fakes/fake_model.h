// FakeModel: a model that does what a test says.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <utility>

#include "worker/model/model.h"

namespace mpsd {

// Thread-safe as far as the test's function is.
class FakeModel final : public Model, private ModelMemory, private DecoupledAnswers {
 public:
  using RunFunction =
      std::function<absl::Status(absl::Span<const InputTensor>, uint32_t rows, OutputSink*)>;

  FakeModel(ModelSpec spec, RunFunction run, ModelTraits traits = {})
      : Model(std::move(spec), std::move(traits)), run_(std::move(run)) {}

  ModelMemory* memory() override { return this; }
  DecoupledAnswers* answers() override { return answer ? this : nullptr; }
  absl::Status BindLane(uint32_t) override { return bind_status; }
  absl::Status Run(uint32_t, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override {
    return run_(inputs, row_count, sink);
  }

  absl::Status bind_status;               // set before any lane binds
  std::atomic<uint64_t> unused_bytes{0};  // that ReleaseUnusedMemory() gives back
  std::function<absl::StatusOr<bool>(absl::Span<const InputTensor>, uint32_t index, OutputSink*)>
      answer;  // for decoupled models

 private:
  void RegisterMemory(const void*, uint64_t) override {}
  void UnregisterMemory(const void*) override {}
  void RegisterOutputMemory(void*, uint64_t) override {}
  uint64_t UnusedMemoryBytes() const override { return unused_bytes; }
  void ReleaseUnusedMemory() override { unused_bytes = 0; }
  absl::StatusOr<bool> Answer(uint32_t, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override {
    return answer(inputs, index, sink);
  }

  const RunFunction run_;
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
