// RowWriter: the one copy of a payload, from the transport's buffers into the rows of a slab.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Writes all of `rows` rows of one input at `target`, pad bytes included. REQUIRES: the payload has
// exactly the bytes of the input's own dims times `rows`, or its tensor_bytes. Pure but for the
// target.
void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target);

// All inputs of a request, each from where its payload lies. Thread-safe: no state.
class RowWriter final : public RowFiller {
 public:
  void Fill(const ModelSpec& spec, const Request& request,
            const RowTargets& targets) const override;
};

// One element of the datatype with the value, at most 8 bytes. 0 for what cannot be said in it.
void EncodeElement(DataType datatype, double value, char element[8]);

// The element that pads `input` of the spec.
void PadElement(const ModelSpec& spec, uint32_t input, char element[8]);

}  // namespace mpsd
