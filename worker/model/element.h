// One element of a tensor, of whatever datatype, as a number.
#pragma once

#include "proto/base/datatype.h"

namespace mpsd {

// NaN for BYTES, which are none. `data` need not be aligned.
double ReadElement(DataType datatype, const void* data);

}  // namespace mpsd
