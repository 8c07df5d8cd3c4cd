// CollectingSink: keeps the outputs of one run on the heap, for tests to look at.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/shape.h"
#include "worker/model/model.h"

namespace mpsd {

// Made by a test for one run. Lives on one thread.
class CollectingSink final : public OutputSink {
 public:
  struct Output {
    DataType datatype;
    Dims dims;
    std::string bytes;
  };

  // With `room` false no output finds room, as in a lease that is too small.
  explicit CollectingSink(bool room = true) : room_(room) {}

  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    Output& output = outputs_.emplace_back();
    output.datatype = datatype;
    output.dims.assign(dims.begin(), dims.end());
    output.bytes.resize(TensorBytes(datatype, dims).value());
    return room_ ? output.bytes.data() : nullptr;
  }
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override {
    Output& output = outputs_.emplace_back();
    output.datatype = DataType::kBytes;
    output.dims.assign(dims.begin(), dims.end());
    output.bytes.resize(bytes);
    return room_ ? output.bytes.data() : nullptr;
  }
  void FailRow(uint32_t row, absl::string_view why) override {
    failed_rows_[row] = std::string(why);
  }

  const std::vector<Output>& outputs() const { return outputs_; }
  const std::map<uint32_t, std::string>& failed_rows() const { return failed_rows_; }

  // The elements of output `index` as T.
  template <typename T>
  std::vector<T> Elements(size_t index) const {
    std::vector<T> elements(outputs_.at(index).bytes.size() / sizeof(T));
    std::memcpy(elements.data(), outputs_[index].bytes.data(), elements.size() * sizeof(T));
    return elements;
  }

 private:
  const bool room_;
  std::vector<Output> outputs_;
  std::map<uint32_t, std::string> failed_rows_;
};

template <typename T>
InputTensor InputOf(const std::vector<T>& elements, DataType datatype, Dims dims) {
  return {elements.data(), elements.size() * sizeof(T), datatype, std::move(dims)};
}

}  // namespace mpsd
