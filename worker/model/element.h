// ReadElement: one element of a tensor, of any datatype, as a number.
#pragma once

#include "proto/base/datatype.h"

namespace mpsd {

// NaN for BYTES, whose elements are no numbers. Integers beyond 2^53 are rounded. `data` need not
// be aligned; it points to ElementBytes(datatype) readable bytes.
double ReadElement(DataType datatype, const void* data);

}  // namespace mpsd
