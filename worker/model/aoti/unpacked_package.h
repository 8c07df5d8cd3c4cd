// UnpackedPackage: the compiled code of a .pt2 archive in a folder of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/model/aoti/aoti_spec.h"

namespace mpsd {

// Thread-compatible. Owned by the model, whose library it holds: it outlives that, and removes the
// folder. The folder lies in TMPDIR, which the supervisor removes after a worker that was killed;
// libtorch's own loader unpacks into /tmp whatever TMPDIR says, where a killed worker would leave
// its files for good.
class UnpackedPackage {
 public:
  // What the archive at `path` says of itself. INVALID_ARGUMENT when it holds no compiled model.
  // libtorch's exceptions, as of a file that is no archive, pass through both.
  static absl::StatusOr<PackageMetadata> ReadMetadata(const std::string& path);
  static absl::StatusOr<std::unique_ptr<UnpackedPackage>> Unpack(const std::string& path);

  UnpackedPackage(const UnpackedPackage&) = delete;
  UnpackedPackage& operator=(const UnpackedPackage&) = delete;
  ~UnpackedPackage();

  const std::string& folder() const { return folder_; }
  // The shared library of the model's code.
  const std::string& library() const { return library_; }

 private:
  explicit UnpackedPackage(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::string library_;
};

}  // namespace mpsd
