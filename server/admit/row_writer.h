// RowWriter: copies a payload from the transport's buffers into the rows of a slab: its only copy.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Step 5 of a request: the front end's one copy of its payload. The rows lie in a slab that the
// worker maps, and a model that runs on a single run of rows reads them there.
//
//   dims [2,3], padded_dims [2,4], two rows:
//   payload   a a a b b b   c c c d d d          pieces, as the transport received them
//   target    a a a . b b b .   c c c . d d d .  one row after the other; . is the pad element
//
// Inputs without padding are copied piece by piece.

// Writes `rows` rows of one input at `target`, padding included: input.Bytes(rows) bytes and
// nothing else. REQUIRES: the payload has exactly the bytes of the input's dims times `rows`, or
// for BYTES its tensor_bytes; `target` has room. Bytes that are still arriving are left out: then
// there is no padding. Does not allocate. Thread-safe.
void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target);

// Writes all inputs of a request, each from its payload. Called by Admission, or by the queue for a
// request that waited for memory; always between Reserve() and Commit(), while nobody else touches
// the rows. Runs outside every lock, on the thread that read the message or found the room. Cannot
// fail: everything was checked before. Owned by Admission; requests point to it until they end.
// Thread-safe: has no state.
class RowWriter final : public RowFiller {
 public:
  void Fill(const ModelSpec& spec, const Request& request,
            const RowTargets& targets) const override;
};

// Writes one element of the datatype with that value, padded with zeros to 8 bytes. FP16 is rounded
// and has no denormals here; BF16 is cut. BYTES cannot be padded: its element is 0. The spec's
// reader has checked that the datatype holds the value. Pure.
void EncodeElement(DataType datatype, double value, char element[8]);

// Writes the element that pads the spec's input number `input`, by its PadRule; 0 without one.
// Pure.
void PadElement(const ModelSpec& spec, uint32_t input, char element[8]);

}  // namespace mpsd
