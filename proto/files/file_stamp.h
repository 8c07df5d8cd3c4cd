// FileStamp: which contents a file had when it was looked at.
//
// Says whether a file has changed without reading it: a reload loads a model again only when its
// file has another stamp (server/config), and new certificates are read only then
// (server/listen/certificate_source.h). The stamp is taken before the file is read; a change in
// between makes it look old, so that the next look reads the file once more. A model may be a
// folder: its stamp is made of those of the files that are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/fd.h"

namespace mpsd {

// A file that took another's place, or was written anew, has another stamp; but for one that was
// written twice within a tick of the file system's clock, with the same length. A folder has
// another stamp once one of its .json and .safetensors files has, also one level down. Plain data.
struct FileStamp {
  uint64_t inode = 0;       // another file under the same name; of a folder: a mix of its files'
  uint64_t bytes = 0;       // of a folder: the sum
  int64_t modified_ns = 0;  // by the file system's clock; of a folder: the last

  bool operator==(const FileStamp&) const = default;
};

// The stamp of the file as it is now, links followed; all zero when there is none, or it cannot be
// looked at. So a file that vanishes and comes back has changed twice. Thread-safe.
FileStamp StampOf(const std::string& path);

// One stamp of several files, another one once a file has, comes, goes. As a folder's: `inode` is a
// mix, `bytes` the sum, `modified_ns` the last. All zero when none is there. Thread-safe.
FileStamp StampOfFiles(const std::vector<std::string>& paths);

// Opens the file that has this stamp, for reading. Invalid when it is a folder, cannot be read, or
// is another file by now. The contents stay readable by the descriptor when another file takes the
// name, but not when the file itself is written anew, which StampOf() of the descriptor's path
// finds out. Thread-safe.
UniqueFd OpenAsStamped(const std::string& path, const FileStamp& stamp);

}  // namespace mpsd
