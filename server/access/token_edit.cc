#include "server/access/token_edit.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/fd.h"
#include "server/access/sha256.h"
#include "server/access/token_file.h"

namespace mpsd {
namespace {

constexpr size_t kTokenBytes = 32;

absl::Status CannotEdit(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("'", path, "' cannot be changed: ", std::strerror(errno)));
}

// Empty: a comment.
absl::string_view NameIn(absl::string_view line) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  return words.empty() || words[0].front() == '#' ? "" : words[0];
}

bool HasToken(absl::string_view text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!name.empty() && NameIn(line) == name) return true;
  }
  return false;
}

// A link stays, and the file that it leads to is exchanged.
std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : real.string();
}

// Removes the file unless it was renamed. Lives on one thread.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path + ".XXXXXX"), fd_(mkstemp(path_.data())) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_.valid() && !is_renamed_) unlink(path_.c_str());
  }

  // mkstemp has set mode 0600. `owner` is null for a new file.
  bool Write(absl::string_view text, const struct stat* owner) {
    if (!fd_.valid()) return false;
    const bool is_theirs = owner != nullptr && owner->st_uid != geteuid();
    if (is_theirs && fchown(fd_.get(), owner->st_uid, owner->st_gid) != 0) return false;
    const ssize_t written = write(fd_.get(), text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) && fsync(fd_.get()) == 0;
  }

  bool RenameTo(const std::string& path) {
    is_renamed_ = rename(path_.c_str(), path.c_str()) == 0;
    return is_renamed_;
  }

 private:
  std::string path_;
  const UniqueFd fd_;
  bool is_renamed_ = false;
};

}  // namespace

absl::StatusOr<std::string> NewToken() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) {
    return absl::InternalError("the cryptographic library has no random bytes");
  }
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

absl::StatusOr<std::string> WithToken(absl::string_view text, absl::string_view name,
                                      absl::string_view token) {
  if (HasToken(text, name)) {
    return absl::AlreadyExistsError(absl::StrCat("there is a token '", name, "' already"));
  }
  if (absl::c_any_of(name, absl::ascii_isspace)) {
    return absl::InvalidArgumentError(absl::StrCat("the name '", name, "' of a token has a blank"));
  }
  const std::optional<Sha256Digest> digest = Sha256(token);
  if (!digest.has_value()) return absl::InternalError("the cryptographic library has failed");
  const absl::string_view separator = text.empty() || text.back() == '\n' ? "" : "\n";
  std::string changed = absl::StrCat(
      text, separator, name, " ",
      absl::BytesToHexString({reinterpret_cast<const char*>(digest->data()), digest->size()}),
      "\n");
  const auto tokens = ParseTokens(changed);
  if (!tokens.ok()) return tokens.status();
  if (tokens->empty() || tokens->back().name != name) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' cannot be the name of a token"));
  }
  return changed;
}

absl::StatusOr<std::string> WithoutToken(absl::string_view text, absl::string_view name) {
  std::vector<absl::string_view> kept;
  bool is_found = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool is_it = !name.empty() && NameIn(line) == name;
    is_found |= is_it;
    if (!is_it) kept.push_back(line);
  }
  if (!is_found) return absl::NotFoundError(absl::StrCat("there is no token '", name, "'"));
  return absl::StrJoin(kept, "\n");
}

absl::Status EditTokenFile(const std::string& given, const TokenTextEdit& edit) {
  const std::string path = RealPath(given);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  // The file itself is another one after each edit, so the folder is locked.
  const UniqueFd lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid() || flock(lock.get(), LOCK_EX) != 0) return CannotEdit(path);
  struct stat status {};
  const bool is_there = lstat(path.c_str(), &status) == 0;
  std::string text;
  if (is_there) {
    absl::StatusOr<std::string> old = ReadTokenText(path);
    if (!old.ok()) return old.status();
    text = *std::move(old);
  }
  const absl::StatusOr<std::string> changed = edit(text);
  if (!changed.ok()) return changed.status();
  NewFile fresh(path);
  if (!fresh.Write(*changed, is_there ? &status : nullptr)) return CannotEdit(path);
  if (!fresh.RenameTo(path) || fsync(lock.get()) != 0) return CannotEdit(path);
  return absl::OkStatus();
}

}  // namespace mpsd
