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

// Small files are copied: the copy stays as it is when the file is written anew.
inline constexpr uint64_t kMaxCopiedFileBytes = 16 << 20;

// One file of a folder. Plain data.
struct FolderFile {
  std::string name;    // in the folder: "1_Pooling/config.json"
  uint64_t bytes = 0;  // that the descriptor has
  FileStamp stamp;     // the file's; all zero: the descriptor is a copy, which does not change

  bool operator==(const FolderFile&) const = default;
};

// A descriptor for each file. Move-only.
struct KeptFolder {
  std::vector<FolderFile> files;
  std::vector<UniqueFd> descriptors;
};

// Opens the files of the folder that a worker may read (IsModelFile): copies of its .json files,
// and the others themselves. Files that only a tokenizer needs are left out. Empty if the
// folder has another stamp, a file cannot be read, a link leads out (FolderLinks), or there are
// more files than kMaxMessageFds. Workers then open the files by their names. Blocks for the
// reading. Thread-safe.
KeptFolder KeepFolder(const std::string& path, const FileStamp& stamp);

// The files as a worker was handed them. Constant, thread-safe.
class HandedFolder {
 public:
  // INVALID_ARGUMENT: not one descriptor for each file. REQUIRES: there are files.
  static absl::StatusOr<HandedFolder> Of(std::vector<FolderFile> files, std::vector<UniqueFd> fds);

  struct File {
    int fd = -1;  // borrowed
    uint64_t bytes = 0;
  };
  // Nothing where the folder had no such file.
  std::optional<File> Find(const std::string& name) const;

  // Whether all files are as they were: none that is no copy was written anew.
  bool IsUnchanged() const;

 private:
  HandedFolder(std::vector<FolderFile> files, std::vector<UniqueFd> fds);

  const std::vector<FolderFile> files_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
