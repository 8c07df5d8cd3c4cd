// StampOfTokenizer: which contents a tokenizer had, and the settings beside it.
#pragma once

#include <string>

#include "proto/files/file_stamp.h"

namespace mpsd {

// Another one once the file at `path` has another stamp, or one of kTokenizerSettings beside it: a
// prompt that was changed changes the tokens of texts. Other files of the folder do not count, such
// as the daemon's own config. Asks the file system. Thread-safe.
FileStamp StampOfTokenizer(const std::string& path);

}  // namespace mpsd
