// FolderLinks: where the links in a model's folder may lead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpsd {

// A folder may come from strangers, so a link in it to any other file of the host opens nothing.
// Links lead into the folder itself, and from a snapshot in Hugging Face's cache to the files that
// the snapshots of the same model share. Constant, thread-safe.
class FolderLinks {
 public:
  // Looks at the folder once.
  explicit FolderLinks(const std::string& folder);

  // Whether this file of the folder, or the one that it leads to, is one of those. False where
  // there is none.
  bool Allow(const std::filesystem::path& file) const;

 private:
  std::vector<std::filesystem::path> roots_;
};

}  // namespace mpsd
