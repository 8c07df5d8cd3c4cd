// FileStamp: which contents a file had when it was looked at.
//
// Says whether a file has changed without reading it: a reload loads a model again only when its
// file has another stamp (server/config), and new certificates are read only then
// (server/listen/certificate_source.h). The stamp is taken before the file is read; a change in
// between makes it look old, so that the next look reads the file once more.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// A file that took another's place, or was written anew, has another stamp; but for one that was
// written twice within a tick of the file system's clock, with the same length. Plain data.
struct FileStamp {
  uint64_t inode = 0;  // another file under the same name
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // by the file system's clock

  bool operator==(const FileStamp&) const = default;
};

// The stamp of the file as it is now, links followed; all zero when there is none, or it cannot be
// looked at. So a file that vanishes and comes back has changed twice. Thread-safe.
FileStamp StampOf(const std::string& path);

}  // namespace mpsd
