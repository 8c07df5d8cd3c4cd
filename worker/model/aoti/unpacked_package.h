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

// Owned by the model, and outlives the library in the folder, which the destructor removes.
// Thread-compatible.
//
// If a worker is killed, the supervisor removes TMPDIR. libtorch's own loader would unpack into
// /tmp, where files would stay.
class UnpackedPackage {
 public:
  // The archive's metadata without values that are not texts. Writes nothing. INVALID_ARGUMENT when
  // the archive holds no compiled model, or CheckArchiveSize() refuses it. May throw.
  static absl::StatusOr<PackageMetadata> ReadMetadata(const std::string& path);

  // Writes the model's files to a new folder, 1 MiB at a time. RESOURCE_EXHAUSTED when the folder
  // is full; other errors and exceptions as for ReadMetadata(). After an error the written files
  // are removed.
  static absl::StatusOr<std::unique_ptr<UnpackedPackage>> Unpack(const std::string& path);

  UnpackedPackage(const UnpackedPackage&) = delete;
  UnpackedPackage& operator=(const UnpackedPackage&) = delete;

  // A file that cannot be removed stays, without a report.
  ~UnpackedPackage();

  // An absolute path if TMPDIR is one.
  const std::string& folder() const { return folder_; }

  const std::string& library() const { return library_; }

 private:
  explicit UnpackedPackage(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::string library_;
};

}  // namespace mpsd
