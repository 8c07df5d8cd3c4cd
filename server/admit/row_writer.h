// RowWriter: copies a payload from the transport's buffers into the rows of a slab.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Step 5 of a request: the front end's one copy of its payload.
//
//   dims [2,3], padded_dims [2,4], two rows:
//   payload   a a a b b b   c c c d d d          pieces, as the transport received them
//   target    a a a . b b b .   c c c . d d d .  one row after the other; . is the pad element

// Writes input.Bytes(rows) bytes at `target`, padding included, and nothing else. REQUIRES: the
// payload has exactly the bytes of the input's dims times `rows`, or for BYTES its tensor_bytes;
// `target` has room. Bytes that are still arriving are left out: then there is no padding. Does not
// allocate. Thread-safe.
void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target);

// Called between Reserve() and Commit(), outside every lock, while nobody else touches the rows.
// Cannot fail: everything was checked before. Owned by Admission; requests point to it until they
// end. Thread-safe: has no state.
class RowWriter final : public RowFiller {
 public:
  void Fill(const ModelSpec& spec, const Request& request,
            const RowTargets& targets) const override;
};

// Writes the value, padded with zeros to 8 bytes. FP16 is rounded and has no denormals here; BF16
// is cut. The element of BYTES is 0. REQUIRES: the datatype holds the value. Pure.
void EncodeElement(DataType datatype, double value, char element[8]);

// The element that pads the spec's input number `input`; 0 without a PadRule. Pure.
void PadElement(const ModelSpec& spec, uint32_t input, char element[8]);

}  // namespace mpsd
