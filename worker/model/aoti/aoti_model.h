// aoti_model: models in a .pt2 package of compiled code (AOTInductor), run by libtorch in this
// process. Opening the package's library runs its code, so the sandbox is sealed before.
//
//   UnpackedPackage::ReadMetadata   what the package says of itself   unpacked_package.h
//   CheckPackageFits                it was compiled for this device   aoti_spec.h
//   MergePackageSpec                the spec, from package and order  aoti_spec.h
//   UnpackedPackage::Unpack         the library, in a folder          unpacked_package.h
//   the runner of libtorch          opens the library
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// LoadModel() for the format "aoti". Opens one instance for each lane, because an instance runs one
// call at a time. FAILED_PRECONDITION: the package was compiled for another device or machine, or
// this libtorch runs no packages on the device. INVALID_ARGUMENT: the order asks for a precision,
// the file is no package, or neither package nor config names all inputs and outputs. Called on the
// main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order);

}  // namespace mpsd
