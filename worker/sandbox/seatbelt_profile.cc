#include "worker/sandbox/seatbelt_profile.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mpsd {
namespace {

constexpr char kTakenAway[] = R"((version 1)
(allow default)

; Other programs and processes.
(deny process-exec*)
(deny process-fork)
(deny process-info* (target others))
(deny signal (target others))
(deny mach-priv*)
(deny job-creation)
(deny appleevent-send)

; Networks; descriptors that are open already stay.
(deny network*)
(deny system-socket)

; The host's own settings.
(deny nvram*)
(deny system-kext*)
(deny sysctl-write)

; Files of people, and every change of a file.
(deny file-read-data
  (subpath "/Users")
  (subpath "/Volumes")
  (subpath "/private/var/root"))
(deny file-write*)
(allow file-write-data
  (literal "/dev/null")
  (literal "/dev/zero"))
)";

absl::StatusOr<std::string> Quoted(const std::string& path) {
  const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; };
  if (path.empty() || path.front() != '/' || std::any_of(path.begin(), path.end(), is_control)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no rule can be made for the path '", absl::CHexEscape(path), "'"));
  }
  std::string quoted = "\"";
  for (const char byte : path) {
    if (byte == '"' || byte == '\\') quoted += '\\';
    quoted += byte;
  }
  return quoted + "\"";
}

absl::Status AppendRule(absl::string_view operation, const std::vector<std::string>& paths,
                        std::string* profile) {
  if (paths.empty()) return absl::OkStatus();
  absl::StrAppend(profile, "(allow ", operation);
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> quoted = Quoted(path);
    if (!quoted.ok()) return quoted.status();
    absl::StrAppend(profile, "\n  (subpath ", *quoted, ")");
  }
  absl::StrAppend(profile, ")\n");
  return absl::OkStatus();
}

// Whether a folder belongs to somebody, or holds such folders: /Users/NAME, /Volumes/NAME and paths
// as near to the root. Others can be read without a rule.
bool HoldsPeoplesFiles(absl::string_view folder) {
  return std::count(folder.begin(), folder.end(), '/') <= 2 || folder == "/private/var/root";
}

}  // namespace

std::vector<std::string> CodePaths(const std::vector<std::string>& images) {
  std::vector<std::string> paths = images;
  for (const std::string& image : images) {
    const size_t slash = image.rfind('/');
    if (slash == std::string::npos || image.substr(slash + 1) != "libtorch_cpu.dylib") continue;
    const std::string folder = image.substr(0, slash);
    if (!HoldsPeoplesFiles(folder)) paths.push_back(folder);
  }
  return paths;
}

absl::StatusOr<std::string> SeatbeltProfile(const SeatbeltPaths& paths) {
  std::string profile = kTakenAway;
  absl::StrAppend(&profile, "\n; What this worker keeps.\n");
  absl::Status status = AppendRule("file-read*", paths.readable, &profile);
  status.Update(AppendRule("file-read* file-write*", paths.writable, &profile));
  if (!status.ok()) return status;
  return profile;
}

}  // namespace mpsd
