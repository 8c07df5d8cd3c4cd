#include "client/hub/hub_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/platform.h"
#include "proto/files/whole_file.h"

namespace mpsd::hub {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCommitDigits = 40;

absl::Status CannotWrite(const std::string& path, const std::error_code& error) {
  return absl::DataLossError(absl::StrCat("cannot write ", path, ": ", error.message()));
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? CannotWrite(path, error) : absl::OkStatus();
}

bool IsCommit(const std::string& text) {
  return text.size() == kCommitDigits && std::all_of(text.begin(), text.end(), [](char digit) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(digit));
         });
}

std::vector<HubFile> FilesBelow(const fs::path& folder) {
  std::vector<HubFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code none;
    if (!fs::is_regular_file(at->path(), none)) continue;
    files.push_back({at->path().lexically_relative(folder).generic_string(), "",
                     fs::file_size(at->path(), none)});
  }
  return files;
}

std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (fs::is_directory(at->path(), none)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string HubCache::FolderOf(const HubName& name) const {
  return absl::StrCat("models--", name.org, "--", name.name);
}

std::string HubCache::BlobPath(const HubName& name, const std::string& id) const {
  return absl::StrCat(root_, "/", FolderOf(name), "/blobs/", id);
}

std::string HubCache::SnapshotPath(const HubName& name, const std::string& commit) const {
  return absl::StrCat(root_, "/", FolderOf(name), "/snapshots/", commit);
}

std::vector<HubFile> HubCache::FilesOf(const HubName& name, const std::string& commit) const {
  return FilesBelow(SnapshotPath(name, commit));
}

std::optional<std::string> HubCache::CommitOf(const HubName& name) const {
  if (IsCommit(name.revision)) return name.revision;
  const absl::StatusOr<std::string> ref = ReadWholeFile(
      absl::StrCat(root_, "/", FolderOf(name), "/refs/", name.revision), kCommitDigits + 1);
  if (!ref.ok()) return std::nullopt;
  std::string commit(absl::StripAsciiWhitespace(*ref));
  return IsCommit(commit) ? std::optional(std::move(commit)) : std::nullopt;
}

absl::StatusOr<UniqueFd> HubCache::LockBlob(const HubName& name, const std::string& id,
                                            const std::function<void()>& waits) const {
  const std::string locks = absl::StrCat(root_, "/.locks/", FolderOf(name));
  for (const std::string& folder : {locks, absl::StrCat(root_, "/", FolderOf(name), "/blobs")}) {
    if (absl::Status made = MakeFolder(folder); !made.ok()) return made;
  }
  const std::string path = absl::StrCat(locks, "/", id, ".lock");
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return CannotWrite(path, std::error_code(errno, std::generic_category()));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  waits();
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return CannotWrite(path, std::error_code(errno, std::generic_category()));
  }
  return lock;
}

absl::Status HubCache::Link(const HubName& name, const std::string& commit,
                            const HubFile& file) const {
  const fs::path link = fs::path(SnapshotPath(name, commit)) / file.path;
  if (absl::Status made = MakeFolder(link.parent_path().string()); !made.ok()) return made;
  const fs::path target = fs::path(BlobPath(name, file.id)).lexically_relative(link.parent_path());
  std::error_code error;
  if (fs::read_symlink(link, error) == target) return absl::OkStatus();
  // Renamed over the old link: a server that reads the snapshot always finds a file.
  const fs::path fresh = absl::StrCat(link.string(), ".", getpid());
  fs::remove(fresh, error);
  fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  return error ? CannotWrite(link.string(), error) : absl::OkStatus();
}

absl::Status HubCache::WriteRef(const HubName& name, const std::string& commit) const {
  if (IsCommit(name.revision)) return absl::OkStatus();
  const fs::path ref = fs::path(root_) / FolderOf(name) / "refs" / name.revision;
  if (absl::Status made = MakeFolder(ref.parent_path().string()); !made.ok()) return made;
  const std::string fresh = absl::StrCat(ref.string(), ".", getpid());
  if (absl::Status written = WriteWholeFile(fresh, commit); !written.ok()) return written;
  std::error_code error;
  fs::rename(fresh, ref, error);
  return error ? CannotWrite(ref.string(), error) : absl::OkStatus();
}

std::optional<uint64_t> HubCache::FreeBytes() const {
  fs::path folder = root_;
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  struct statvfs room {};
  if (statvfs(folder.c_str(), &room) != 0) return std::nullopt;
  return static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
}

std::vector<KeptModel> HubCache::Models() const {
  std::vector<KeptModel> models;
  for (const fs::path& folder : FoldersIn(root_)) {
    for (const fs::path& snapshot : FoldersIn(folder / "snapshots")) {
      const std::optional<std::string> last = NameOfSnapshot(snapshot.string());
      if (!last.has_value()) continue;
      KeptModel model;
      const std::string name = folder.filename().string();
      model.name.org = name.substr(8, name.size() - 8 - 2 - last->size());
      model.name.name = *last;
      model.name.revision = snapshot.filename().string();
      model.path = snapshot.string();
      model.files = FilesBelow(snapshot);
      models.push_back(std::move(model));
    }
  }
  return models;
}

absl::Status HubCache::Remove(const HubName& name) const {
  const fs::path folder = fs::path(root_) / FolderOf(name);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(name.Repository(), " is not in ", root_));
  }
  fs::remove_all(folder, error);
  if (!error) fs::remove_all(fs::path(root_) / ".locks" / FolderOf(name), error);
  return error ? CannotWrite(folder.string(), error) : absl::OkStatus();
}

}  // namespace mpsd::hub
