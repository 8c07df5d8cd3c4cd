// weight_pickle: reads the pickle in which torch lists the tensors of a file of weights.
//
//   {"layer.weight": rebuild_tensor(storage(FloatStorage, "0", 6), offset, shape, strides, …), …}
//
// A pickle is a program, and Python's machine calls any function that it names. This machine has
// few instructions, knows the names of torch's storages and functions for tensors, and calls
// nothing.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/weights/stored_tensors.h"
#include "worker/model/encoder/weights/stored_zip.h"

namespace mpsd {

// The tensors that the untrusted `pickle` lists. `storages` are bytes by key, which the result
// borrows. INVALID_ARGUMENT says what is wrong, and names a class or function that is no tensor's.
// Each storage is as long as its type and count say. Each tensor lies in its storage, and no two of
// its numbers lie in one place. Tensors may share a storage; together they are at most four times
// as long as all storages. A pickle makes at most two million values, 100,000 tensors among them.
// Memory grows with the number of values alone. Pure.
absl::StatusOr<StoredTensors> ParseWeightPickle(absl::string_view pickle,
                                                const ZipEntries& storages);

}  // namespace mpsd
