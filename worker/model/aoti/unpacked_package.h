// UnpackedPackage: the compiled code of a .pt2 archive, in a folder of its own.
//
//   FILE.pt2, a zip archive                   TMPDIR/mpsd-package-XXXXXX/
//     data/aotinductor/model/X.so        →      X.so, opened by libtorch
//     …/weights and constants            →      beside it
//     …/X_metadata.json                         read by ReadMetadata(), not written
//     …/sources and objects                     left in the archive
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/model/aoti/aoti_spec.h"

namespace mpsd {

// Unpacks on construction, and removes the folder on destruction. Owned by the model, whose library
// lies in the folder: this object outlives that library. Thread-compatible.
//
// The folder lies in TMPDIR, which the supervisor removes after a worker was killed. The loader of
// libtorch ignores TMPDIR and unpacks into /tmp, where a killed worker's files would stay.
//
// LoadAoti() calls this after the sandbox has confined files: the worker may still write to TMPDIR.
// ReadMetadata() comes first, so that a package for another device or machine is refused before a
// byte is unpacked.
class UnpackedPackage {
 public:
  // The archive's metadata; values that are not texts are left out. Writes nothing.
  // INVALID_ARGUMENT when the archive holds no compiled model, or CheckArchiveSize() refuses it.
  // Throws libtorch's exceptions, for example for a file that is no archive.
  static absl::StatusOr<PackageMetadata> ReadMetadata(const std::string& path);

  // Writes the files of the archive's model to a new folder, without the generated sources, 1 MiB
  // at a time. RESOURCE_EXHAUSTED when the folder is full; other errors and exceptions as for
  // ReadMetadata(). After an error the written files are removed.
  static absl::StatusOr<std::unique_ptr<UnpackedPackage>> Unpack(const std::string& path);

  UnpackedPackage(const UnpackedPackage&) = delete;
  UnpackedPackage& operator=(const UnpackedPackage&) = delete;

  // Removes the folder. A file that cannot be removed stays, without a report.
  ~UnpackedPackage();

  // The folder, an absolute path if TMPDIR is one.
  const std::string& folder() const { return folder_; }

  // The path of the shared library with the model's code, inside the folder.
  const std::string& library() const { return library_; }

 private:
  explicit UnpackedPackage(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::string library_;
};

}  // namespace mpsd
