// aoti_model: models in a .pt2 package of compiled code (AOTInductor), run by libtorch in this
// process.
//
// A package holds a shared library that was compiled for one kind of device and machine, and the
// weights. Loading it is opening that library, which is the package's own code: it happens after
// the sandbox is sealed. The steps of loading, and their files:
//
//   UnpackedPackage::ReadMetadata   what the package says of itself   unpacked_package.h
//   CheckPackageFits                it was compiled for this device   aoti_spec.h
//   MergePackageSpec                the spec, from package and order  aoti_spec.h
//   UnpackedPackage::Unpack         the library, in a folder          unpacked_package.h
//   the runner of libtorch          opens the library
//
// Outputs are never learned by trial runs here: a package says them, or the config does.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As LoadModel(), for the format "aoti". Unpacks the package into the process's TMPDIR, where it
// stays as long as the model, and opens one instance of the model for each lane of the order, since
// an instance runs one call at a time. FAILED_PRECONDITION when the package was compiled for
// another device or machine, or the libtorch in use runs no packages on the device.
// INVALID_ARGUMENT when the order asks for a precision, the file is no package, or package and
// config together leave inputs or outputs unsaid. Called on the main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order);

}  // namespace mpsd
