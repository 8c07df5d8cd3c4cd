// FileStamp: identifies the contents that a file had when it was looked at.
//
// Tells whether a file has changed without reading it. A reload loads a model again only if its
// file's stamp has changed (server/config), and likewise certificates
// (server/http/connections/certificate_source.h). The stamp is taken before the file is read: after
// a change in between it looks old, and the next look reads the file again. A model may be a
// folder: its stamp combines those of the files that are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/base/fd.h"

namespace mpsd {

// A file that was replaced or rewritten has another stamp. The exception is a file written twice
// within one tick of the file system's clock, with the same length. A folder's stamp changes when
// one of its files (IsModelFile) changes, also one level down. Plain data.
struct FileStamp {
  uint64_t inode = 0;  // changes if another file takes the name; for a folder: a mix over its files
  uint64_t bytes = 0;  // for a folder: the sum
  int64_t modified_ns = 0;  // by the file system's clock; for a folder: the latest

  bool operator==(const FileStamp&) const = default;
};

// The stamp of the file as it is now, links followed. All zero if there is no file, or it cannot be
// looked at. So a file that vanishes and comes back changes twice. Thread-safe.
FileStamp StampOf(const std::string& path);

// The stamp of a file that is open.
FileStamp StampOfOpenFile(int fd);

// Whether a loader may read a file of this name in a model's folder: *.json, *.safetensors and
// pytorch_model*.bin. A folder may have other .bin files, such as the state of a training.
bool IsModelFile(const std::filesystem::path& name);

// The names of the files that make a folder's stamp, in their order: "1_Pooling/config.json".
// Thread-safe.
std::vector<std::string> FilesOfFolder(const std::string& path);

// One stamp for several files; it changes if a file changes, appears or disappears. Like a
// folder's: `inode` is a mix, `bytes` the sum, `modified_ns` the latest. All zero if there is no
// file. Thread-safe.
FileStamp StampOfFiles(const std::vector<std::string>& paths);

// Opens the file for reading if it still has this stamp. Invalid if it is a folder, cannot be read,
// or has changed. The descriptor keeps these contents if another file takes the name, but not if
// the file itself is rewritten; StampOfOpenFile() detects that. Thread-safe.
UniqueFd OpenAsStamped(const std::string& path, const FileStamp& stamp);

}  // namespace mpsd
