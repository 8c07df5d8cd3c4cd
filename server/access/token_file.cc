#include "server/access/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "proto/base/check.h"
#include "proto/base/fd.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr size_t kMaxFileBytes = 256 << 10;
constexpr size_t kHexBytes = 2 * sizeof(Sha256Digest);
constexpr unsigned kGroupAndOthers = 0077;

bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::Status Fault(size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

// REQUIRES: as many hex digits as a digest has.
Sha256Digest DigestOf(absl::string_view hex) {
  Sha256Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    uint32_t byte = 0;
    MPSD_CHECK(absl::SimpleHexAtoi(hex.substr(2 * i, 2), &byte));
    digest[i] = static_cast<uint8_t>(byte);
  }
  return digest;
}

absl::Status AddToken(absl::string_view line, size_t number, std::vector<AccessToken>* tokens) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() != 2) return Fault(number, "must be a name and a SHA-256, with a blank between");
  AccessToken token;
  token.name = std::string(words[0]);
  if (!IsName(token.name)) return Fault(number, "the name may have letters, digits, '.', '_', '-'");
  const absl::string_view hex = words[1];
  if (hex.size() != kHexBytes || !std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit)) {
    return Fault(number, "the SHA-256 must be 64 hex digits");
  }
  token.digest = DigestOf(hex);
  for (const AccessToken& other : *tokens) {
    if (other.name == token.name) return Fault(number, "this name stands twice");
    if (other.digest == token.digest) return Fault(number, "this SHA-256 stands twice");
  }
  if (tokens->size() == kMaxAccessTokens) {
    return Fault(number, absl::StrCat("there may be ", kMaxAccessTokens, " tokens at most"));
  }
  tokens->push_back(std::move(token));
  return absl::OkStatus();
}

std::string ModeFault(const struct stat& status, unsigned denied_mode) {
  if (!S_ISREG(status.st_mode)) return "is no file";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "belongs to another user";
  if ((status.st_mode & denied_mode) == 0) return "";
  return absl::StrFormat("has the mode %04o, which lets others at it; it must be 0600",
                         status.st_mode & 07777);
}

}  // namespace

absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text) {
  std::vector<AccessToken> tokens;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    if (absl::Status status = AddToken(line, number, &tokens); !status.ok()) return status;
  }
  return tokens;
}

absl::StatusOr<std::string> ReadTokenText(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would block.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd.valid() || fstat(fd.get(), &status) != 0) {
    return absl::NotFoundError(absl::StrCat("'", path, "' cannot be read: ", strerror(errno)));
  }
  const std::string fault = ModeFault(status, kGroupAndOthers);
  if (!fault.empty()) return absl::PermissionDeniedError(absl::StrCat("'", path, "' ", fault));
  std::string text(kMaxFileBytes + 1, '\0');
  size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + bytes, text.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::NotFoundError(absl::StrCat("'", path, "' cannot be read"));
    if (got == 0) break;
    bytes += static_cast<size_t>(got);
  }
  if (bytes > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is larger than ", kMaxFileBytes, " bytes"));
  }
  text.resize(bytes);
  return text;
}

absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTokenText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<AccessToken>> tokens = ParseTokens(*text);
  if (tokens.ok()) return tokens;
  return absl::InvalidArgumentError(absl::StrCat("'", path, "' ", tokens.status().message()));
}

std::string SecretFileFault(const std::string& path, unsigned denied_mode) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  const std::string fault = ModeFault(status, denied_mode);
  return fault.empty() ? "" : absl::StrCat("'", path, "' ", fault);
}

}  // namespace mpsd
