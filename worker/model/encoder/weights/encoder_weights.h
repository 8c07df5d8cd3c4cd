// EncoderWeights: hands out a folder's tensors by name, and makes sure that none is left unread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "c10/core/Storage.h"
#include "proto/link/census.h"
#include "worker/model/encoder/weights/stored_tensors.h"
#include "worker/model/products/products.h"

namespace mpsd {

// Remembers the first fault, so a reader checks once, at its end. Copies the bytes that it borrows.
// Made while a model is loaded. Thread-compatible.
class EncoderWeights {
 public:
  // `prefix` ("bert.") is there if a head was saved beside the encoder.
  EncoderWeights(const StoredTensors& source, absl::string_view prefix, c10::Device device);

  // Before the first call the type is float.
  void HandOutAs(at::ScalarType type) { type_ = type; }
  at::ScalarType type() const { return type_; }

  // Holds for linear maps made from now on; before the first call libtorch multiplies. REQUIRES:
  // for any other choice, floats on the cpu.
  void MultiplyBy(Products products) { products_ = products; }
  Products products() const { return products_; }

  // The tensor is on the device. After a fault, its content is meaningless.
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape) {
    return TakeWhole(prefix_ + name, shape);
  }

  // Takes a tensor outside the encoder, whose name has no prefix.
  at::Tensor TakeWhole(const std::string& name, const std::vector<int64_t>& shape);

  at::Tensor TakeRow(const std::string& name, const std::vector<int64_t>& shape, int64_t row,
                     bool whole);

  // After a fault nothing large should be made from the tensors.
  bool ok() const { return status_.ok(); }

  // Allows a tensor to be left untaken. If the name ends in a dot, all that begin so.
  void Ignore(const std::string& name) { ignored_.push_back(prefix_ + name); }
  void IgnoreWhole(const std::string& name) { ignored_.push_back(name); }

  // INVALID_ARGUMENT names a tensor that is missing, has another shape than the caller gave, is not
  // F32, F16 or BF16, or was neither taken nor ignored. Called last.
  absl::Status Finish();

  // A taken tensor is now in memory as this one.
  void Keep(const at::Tensor& tensor);

  // Storages of taken tensors that something still holds: a linear map holds its matrix in another
  // order.
  std::vector<c10::Storage> Held() const;

  // `taken_bytes` of taken tensors stay in memory as `bytes` of the datatype.
  void CountAs(uint64_t bytes, const std::string& datatype, uint64_t taken_bytes);

  // Bytes and datatypes of taken tensors, and the datatypes they were saved in.
  void Count(Census* census) const;

 private:
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape,
                  std::optional<int64_t> row);
  at::Tensor Fail(const std::string& name, absl::Span<const int64_t> shape, absl::string_view what);
  bool IsIgnored(absl::string_view name) const;

  const StoredTensors& source_;
  const c10::Device device_;
  at::ScalarType type_ = at::kFloat;
  Products products_ = Products::kTorch;
  std::string prefix_;
  std::set<std::string> taken_;
  std::vector<std::string> ignored_;
  std::set<std::string> taken_dtypes_;
  std::set<std::string> saved_dtypes_;
  uint64_t taken_bytes_ = 0;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> kept_;
  absl::Status status_;
};

}  // namespace mpsd
