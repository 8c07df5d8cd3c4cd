#include "proto/files/folder_links.h"

#include <algorithm>
#include <system_error>

namespace mpsd {
namespace {

bool IsBelow(const std::filesystem::path& root, const std::filesystem::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

FolderLinks::FolderLinks(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::canonical(folder, error);
  if (error) return;
  roots_.push_back(own);
  if (own.parent_path().filename() != "snapshots") return;
  const auto shared = std::filesystem::canonical(own / "../../blobs", error);
  if (!error) roots_.push_back(shared);
}

bool FolderLinks::Allow(const std::filesystem::path& file) const {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(file, error);
  const auto is_in = [&target](const auto& root) { return IsBelow(root, target); };
  return !error && std::any_of(roots_.begin(), roots_.end(), is_in);
}

}  // namespace mpsd
