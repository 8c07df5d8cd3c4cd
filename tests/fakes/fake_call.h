// FakeCall: a call as door/ holds it, with a sink that remembers its ending.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "proto/base/clock.h"
#include "server/request/request.h"
#include "tests/fakes/recording_reply_sink.h"

namespace mpsd {

// Thread-compatible, like the request in it; the sink is read after the call has ended.
struct FakeCall {
  explicit FakeCall(bool keep_memory = false) : sink(keep_memory) { request.reply = Reply(&sink); }

  // A request of `rows` rows with one FP32 input of these dims per row, as admission leaves it.
  void Describe(uint32_t rows, Dims dims, int64_t now_ns, int64_t timeout_ns) {
    request.rows = rows;
    request.arrival_ns = now_ns;
    request.deadline_ns = now_ns + timeout_ns;
    RequestInput& input = request.inputs.emplace_back();
    input.datatype = DataType::kFp32;
    input.dims = dims;
    input.padded_dims = dims;
    input.row_bytes = TensorBytes(DataType::kFp32, dims).value();
    request.key.assign(dims.begin(), dims.end());
    request.wanted_outputs = {0};
  }

  // Writes `value` into every element of the request's rows.
  void Fill(const RowTargets& targets, float value) const {
    const RequestInput& input = request.inputs[0];
    for (uint64_t at = 0; at < input.row_bytes * request.rows; at += sizeof(value)) {
      std::memcpy(targets.inputs[0] + at, &value, sizeof(value));
    }
  }

  int endings() const { return sink.endings(); }
  const absl::Status& status() const { return sink.status(); }

  // The elements of the first output of the answer.
  std::vector<float> Answer() const {
    if (sink.outputs().empty()) return {};
    const std::string& bytes = sink.outputs()[0].bytes;
    std::vector<float> elements(bytes.size() / sizeof(float));
    std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(float));
    return elements;
  }

  RecordingReplySink sink;
  Request request;
};

}  // namespace mpsd
