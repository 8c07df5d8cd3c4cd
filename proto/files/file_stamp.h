// FileStamp: tells whether a file has changed, without reading it.
//
// The stamp is taken before the file is read: after a change in between it looks old, and the next
// look reads the file again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/base/fd.h"

namespace mpsd {

// A replaced or rewritten file has another stamp, unless it was written twice within a tick of the
// file system's clock with the same length. A folder's stamp is of its files (IsModelFile), also
// one level down. Plain data.
struct FileStamp {
  uint64_t inode = 0;       // for a folder: a mix over its files
  uint64_t bytes = 0;       // for a folder: the sum
  int64_t modified_ns = 0;  // for a folder: the latest

  bool operator==(const FileStamp&) const = default;
};

// Follows links. All zero if there is no file, or it cannot be looked at. Thread-safe.
FileStamp StampOf(const std::string& path);

FileStamp StampOfOpenFile(int fd);

// Whether a loader may read the file in a model's folder: *.json, *.safetensors and
// pytorch_model*.bin. Other .bin files may be the state of a training.
bool IsModelFile(const std::filesystem::path& name);

// The files that make a folder's stamp, in order: "1_Pooling/config.json". Thread-safe.
std::vector<std::string> FilesOfFolder(const std::string& path);

// One stamp, as a folder's; changes if a file changes, appears or disappears. Thread-safe.
FileStamp StampOfFiles(const std::vector<std::string>& paths);

// Opens the file if it still has this stamp. Invalid if it is a folder, cannot be read, or has
// changed. StampOfOpenFile() tells whether the open file itself was rewritten since. Thread-safe.
UniqueFd OpenAsStamped(const std::string& path, const FileStamp& stamp);

}  // namespace mpsd
