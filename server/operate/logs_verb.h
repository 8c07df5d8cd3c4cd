// logs_verb: shows the log of this host's daemon.
//
// Without a file in the config, a log is on stderr: the journal under systemd, a file under
// launchd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mpsd {

struct LogsOptions {
  std::string config;  // empty: as `mpsd serve` finds one
  uint32_t lines = 100;
  bool follow = false;
};

// Plain data.
struct LogPlaces {
  std::string file;                        // the config's; empty: none
  bool in_journal = false;                 // systemd knows the unit mpsd
  std::vector<std::string> service_files;  // launchd's, if they are there
};

// The program with its arguments: for the config's file, else the journal, else a file of launchd.
// NOT_FOUND, for the operator, if the log may only be on a terminal. Pure.
absl::StatusOr<std::vector<std::string>> LogCommand(const LogPlaces& places,
                                                    const LogsOptions& options);

// Becomes that program, so it returns only an error: of ReadConfigPaths() or LogCommand(), or
// NOT_FOUND without the file or program. Called by main.
absl::Status RunLogs(const LogsOptions& options);

}  // namespace mpsd
