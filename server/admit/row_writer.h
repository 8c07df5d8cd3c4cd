// RowWriter: copies a payload from the transport's buffers into the rows of a slab, which is the
// only copy of it.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Step 5 of a request: the one copy that the front end makes of its payload. The rows lie in a slab
// that the worker maps, and a model that runs on a single row run reads them there.
//
//   dims [2,3], padded_dims [2,4], two rows:
//   payload   a a a b b b   c c c d d d          pieces, as the transport received them
//   target    a a a . b b b .   c c c . d d d .  one row after the other; . is the pad element
//
// Inputs without padding are copied piece by piece in one go.

// Writes `rows` rows of one input at `target`, pad bytes included: input.Bytes(rows) bytes, and
// nothing outside them. REQUIRES: the payload has exactly the bytes of the input's dims times
// `rows`; for BYTES, its tensor_bytes; `target` has room. Does not allocate. Thread-safe.
void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target);

// Writes all inputs of a request, each from its payload. Called by Admission, or by the queue for a
// request that waited for memory; in both cases between Reserve() and Commit(), while nobody else
// touches the rows. Runs outside every lock, on the thread that read the message or on the one that
// found the room. Cannot fail: everything was checked before. Owned by Admission; requests point to
// it until they end. Thread-safe: has no state.
class RowWriter final : public RowFiller {
 public:
  void Fill(const ModelSpec& spec, const Request& request,
            const RowTargets& targets) const override;
};

// Writes one element of the datatype with that value, and zeros up to 8 bytes. FP16 is rounded, and
// has no denormals here; BF16 is cut. BYTES cannot be padded: its element is 0. The reader of the
// spec has checked that the datatype holds the value. Pure.
void EncodeElement(DataType datatype, double value, char element[8]);

// Writes the element that pads input number `input` of the spec, as its PadRule says; 0 for an
// input without one. Pure.
void PadElement(const ModelSpec& spec, uint32_t input, char element[8]);

}  // namespace mpsd
