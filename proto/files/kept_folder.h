// KeptFolder: the files of a model's folder, held open for workers that start later.
//
//   front end   KeepFolder(path, stamp)          when a generation is made
//                 │ names in the LoadOrder, descriptors beside it, for each worker
//                 ▼
//   worker      HandedFolder::Of(files, fds)     reads these, whatever lies in the folder by now
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/files/file_stamp.h"

namespace mpsd {

// Largest .json file that is copied: a copy survives a rewrite.
inline constexpr uint64_t kMaxCopiedFileBytes = 16 << 20;

// Plain data.
struct FolderFile {
  std::string name;    // in the folder: "1_Pooling/config.json"
  uint64_t bytes = 0;  // bytes of the descriptor
  FileStamp stamp;     // all zero: the descriptor is a copy

  bool operator==(const FolderFile&) const = default;
};

// A descriptor for each file. Move-only.
struct KeptFolder {
  std::vector<FolderFile> files;
  std::vector<UniqueFd> descriptors;
};

// Opens what a worker may read (IsModelFile): copies of .json files, and other files themselves.
// Leaves out a tokenizer's own. Empty if the stamp differs, a file cannot be read, a link leads out
// (FolderLinks), or there are more than kMaxMessageFds files; workers then open files by name.
// Blocks. Thread-safe.
KeptFolder KeepFolder(const std::string& path, const FileStamp& stamp);

// The files as a worker was handed them. Constant, thread-safe.
class HandedFolder {
 public:
  // INVALID_ARGUMENT unless each file has a descriptor. REQUIRES: there are files.
  static absl::StatusOr<HandedFolder> Of(std::vector<FolderFile> files, std::vector<UniqueFd> fds);

  struct File {
    int fd = -1;  // borrowed
    uint64_t bytes = 0;
  };
  // Nothing if the folder had no such file.
  std::optional<File> Find(const std::string& name) const;

  // False if a file that is no copy was written anew.
  bool IsUnchanged() const;

 private:
  HandedFolder(std::vector<FolderFile> files, std::vector<UniqueFd> fds);

  const std::vector<FolderFile> files_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
