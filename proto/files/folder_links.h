// FolderLinks: where the links in a model's folder may lead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpsd {

// A folder may come from strangers, so a link to any other file of the host opens nothing. Links
// lead into the folder, and from a snapshot in Hugging Face's cache to the files that the model's
// snapshots share. Constant, thread-safe.
class FolderLinks {
 public:
  // Looks at the folder once.
  explicit FolderLinks(const std::string& folder);

  // Whether this file, or the one that it leads to, may be opened. False if there is none.
  bool Allow(const std::filesystem::path& file) const;

 private:
  std::vector<std::filesystem::path> roots_;
};

}  // namespace mpsd
