// logs_verb: the verb `logs`, which shows the log of this host's daemon.
//
// A daemon writes its log to a file that its config names, or to its stderr. Behind stderr is the
// journal under systemd, a file under launchd, and a terminal or anything else otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mpsd {

// The options as they stand on the command line; server/main.cc fills them.
struct LogsOptions {
  std::string config;    // empty: as `mpsd serve` finds one
  uint32_t lines = 100;  // the last so many
  bool follow = false;   // shows further lines as they come
};

// Where a log may be. Plain data.
struct LogPlaces {
  std::string file;                        // log.file of the config; empty: it names none
  bool in_journal = false;                 // systemd runs here, and knows the unit mpsd
  std::vector<std::string> service_files;  // files of launchd's jobs that are there
};

// The program that shows the log, and its arguments: the config's file first, then the journal,
// then a file of launchd. NOT_FOUND, in words for the operator, where the log may only be on a
// terminal. Pure.
absl::StatusOr<std::vector<std::string>> LogCommand(const LogPlaces& places,
                                                    const LogsOptions& options);

// Becomes the program that shows the log, so it returns only an error: of ReadConfigPaths(), of
// LogCommand(), NOT_FOUND where the file or the program is missing. Called by main.
absl::Status RunLogs(const LogsOptions& options);

}  // namespace mpsd
