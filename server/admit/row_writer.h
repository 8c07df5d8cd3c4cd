// RowWriter: copies a payload from the transport's buffers into the rows of a slab, which is the
// only copy of it.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Writes `rows` rows of one input at `target`, pad bytes included. REQUIRES: the payload has
// exactly the bytes of the input's dims times `rows`; for BYTES, its tensor_bytes. Writes nothing
// but the target. Thread-safe.
void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target);

// Writes all inputs of a request, each from its payload. Runs outside every lock, on the thread
// that read the message or, for a request that waited for memory, on the one that found the room.
// Thread-safe: has no state.
class RowWriter final : public RowFiller {
 public:
  void Fill(const ModelSpec& spec, const Request& request,
            const RowTargets& targets) const override;
};

// Writes one element of the datatype with that value, at most 8 bytes; 0 when the datatype cannot
// hold the value. Pure.
void EncodeElement(DataType datatype, double value, char element[8]);

// Writes the element that pads input number `input` of the spec. Pure.
void PadElement(const ModelSpec& spec, uint32_t input, char element[8]);

}  // namespace mpsd
