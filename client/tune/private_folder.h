// PrivateFolder: a temporary folder that this user alone can enter, short enough for a socket.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd::tune {

// Owns the folder and its contents; the destructor removes them. Movable. Thread-compatible.
class PrivateFolder {
 public:
  // Makes the folder, of mode 0700, in the folder for temporary files. Uses /tmp if that folder's
  // path leaves no room for the name of a socket. Errors carry the system's reason.
  static absl::StatusOr<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path);

  std::string path_;  // empty: moved from
};

}  // namespace mpsd::tune
