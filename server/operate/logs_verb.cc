#include "server/operate/logs_verb.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/operate/config_paths.h"

namespace mpsd {
namespace {

// Where deploy/ and packages put it.
constexpr const char* kUnits[] = {
    "/etc/systemd/system/mpsd.service", "/usr/local/lib/systemd/system/mpsd.service",
    "/usr/lib/systemd/system/mpsd.service", "/lib/systemd/system/mpsd.service"};
// By deploy/launchd, and by Homebrew on both kinds of Mac.
constexpr const char* kServiceFiles[] = {"/usr/local/var/log/mpsd/mpsd.log",
                                         "/opt/homebrew/var/log/mpsd.log",
                                         "/usr/local/var/log/mpsd.log"};

bool CanRead(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

LogPlaces Survey(const std::string& file) {
  LogPlaces places;
  places.file = file;
  if (CanRead("/run/systemd/system")) {
    for (const char* unit : kUnits) places.in_journal |= CanRead(unit);
  }
  for (const char* path : kServiceFiles) {
    if (CanRead(path)) places.service_files.emplace_back(path);
  }
  return places;
}

// Follows a rotated log.
std::vector<std::string> TailOf(const std::string& file, const LogsOptions& options) {
  std::vector<std::string> command = {"tail", "-n", absl::StrCat(options.lines)};
  if (options.follow) command.emplace_back("-F");
  command.push_back(file);
  return command;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LogCommand(const LogPlaces& places,
                                                    const LogsOptions& options) {
  if (!places.file.empty()) return TailOf(places.file, options);
  if (places.in_journal) {
    std::vector<std::string> command = {
        "journalctl", "-u", "mpsd", "-o", "cat", "-n", absl::StrCat(options.lines), "--no-pager"};
    if (options.follow) command.emplace_back("-f");
    return command;
  }
  if (!places.service_files.empty()) return TailOf(places.service_files.front(), options);
  return absl::NotFoundError(
      "no log is kept here: a daemon that no service manager started writes to its own stderr; "
      "the key log.file of a config names a file");
}

absl::Status RunLogs(const LogsOptions& options) {
  const absl::StatusOr<ConfigPaths> paths = ReadConfigPaths(options.config);
  if (!paths.ok()) return paths.status();
  if (!paths->log.empty() && !CanRead(paths->log)) {
    return absl::NotFoundError(
        absl::StrCat("the log ", paths->log, " cannot be read: ", std::strerror(errno)));
  }
  absl::StatusOr<std::vector<std::string>> command = LogCommand(Survey(paths->log), options);
  if (!command.ok()) return command.status();
  std::vector<char*> words;
  for (std::string& word : *command) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return absl::NotFoundError(
      absl::StrCat("cannot run ", command->front(), ": ", std::strerror(errno)));
}

}  // namespace mpsd
