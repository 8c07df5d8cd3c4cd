// StampOfTokenizer: identifies a tokenizer and the settings beside it.
#pragma once

#include <string>

#include "proto/files/file_stamp.h"

namespace mpsd {

// Changes with the file at `path` and with the kTokenizerSettings beside it, no other file. Asks
// the file system. Thread-safe.
FileStamp StampOfTokenizer(const std::string& path);

}  // namespace mpsd
