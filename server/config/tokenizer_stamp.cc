#include "server/config/tokenizer_stamp.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "server/request/tokenizer_files.h"

namespace mpsd {

FileStamp StampOfTokenizer(const std::string& path) {
  std::vector<std::string> files = {path};
  for (const std::string_view name : kTokenizerSettings) {
    std::string beside = std::filesystem::path(path).replace_filename(std::string(name)).string();
    if (beside != path) files.push_back(std::move(beside));
  }
  return StampOfFiles(files);
}

}  // namespace mpsd
