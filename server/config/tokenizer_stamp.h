// StampOfTokenizer: identifies the contents of a tokenizer and the settings beside it.
#pragma once

#include <string>

#include "proto/files/file_stamp.h"

namespace mpsd {

// Changes when the stamp of the file at `path` changes, or that of one of the kTokenizerSettings
// beside it: a changed prompt changes the tokens of texts. Ignores other files in the folder, such
// as the daemon's own config. Asks the file system. Thread-safe.
FileStamp StampOfTokenizer(const std::string& path);

}  // namespace mpsd
