// BodyKeeper: what the readers of a body keep, with its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/bodies/json/infer_body.h"
#include "server/bodies/json/json_walk.h"
#include "server/bodies/json/tensor_data.h"
#include "server/request/infer_message.h"

namespace mpsd {

// An InferBody during one reading. Texts, shapes and parameters count against
// kMaxRequestFieldBytes. Elements in `copies` may move until End() makes payloads of them. Lives on
// the call's thread.
class BodyKeeper {
 public:
  using Shape = InferBody::Shape;

  // Takes the next body in place of an earlier one. REQUIRES: as InferBody::Read().
  BodyKeeper(InferBody* target, std::string body, size_t json_bytes, uint64_t message_bytes,
             InferMessage* message);

  // With the padding behind it.
  absl::string_view text() const { return body_->body_; }
  InferMessage* message() const { return message_; }
  CopiedTensors* copies() { return &copies_; }
  TensorFormLists* forms() const { return &body_->forms_; }
  ParameterMap* request_parameters() { return &parameters_; }

  absl::string_view binary() const { return text().substr(json_bytes_, binary_bytes_); }

  // Each is valid as long as the message.
  absl::Status KeepText(ondemand::value value, absl::string_view field, absl::string_view* text);
  absl::string_view CopyText(absl::string_view text) { return body_->texts_.emplace_back(text); }
  Shape* AddShape() { return &body_->shapes_.emplace_back(); }
  ParameterMap* AddParameters() { return &body_->parameters_.emplace_back(); }

  absl::Status KeepParameter(absl::string_view name, ondemand::value value,
                             ParameterMap* parameters);

  // RESOURCE_EXHAUSTED if the content beside the tensors exceeds its bound.
  absl::Status Charge(size_t bytes);

  void SetBinaryByDefault(bool binary) { body_->binary_by_default_ = binary; }
  void AddChoice(absl::string_view output, bool binary) {
    body_->choices_.push_back({output, binary});
  }

  // Elements from `begin` on belong to the message's last input.
  void AddCopied(size_t begin);

  // Describes the request's own parameters, and sets the inputs' payloads.
  void End();

 private:
  struct CopiedInput {
    size_t input;
    size_t begin;
    size_t bytes;
  };

  InferBody* const body_;
  const size_t json_bytes_;
  const size_t binary_bytes_;
  InferMessage* const message_;
  CopiedTensors copies_;
  absl::InlinedVector<CopiedInput, 4> copied_;
  ParameterMap parameters_;
  uint64_t field_bytes_ = 0;
};

}  // namespace mpsd
