// hub_verbs: the verbs `pull`, `models`, `rm` and `inspect ORG/NAME`: models from a hub, and in the
// cache of this host.
//
// They need no daemon. `serve ORG/NAME` pulls by PullToServe(), so both show the same progress.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd::cli {

// The options as they stand on the command line; verbs.cc fills them.
struct HubOptions {
  std::string model;         // "ORG/NAME" or "ORG/NAME@REVISION"
  bool json = false;         // `pull` writes an event a line
  bool is_terminal = false;  // `err` is one
  std::string worker;        // empty: the mpsd-worker beside this program
};

// Whether a person means a model at a hub by this: the form is right and no such path is here.
bool IsHubModel(const std::string& text);

// Fetches the model into the cache, and writes its folder to `out`. Progress goes to `err`: one
// line that changes on a terminal, else a line in ten seconds; with `json` events go to `out`.
//
// Returns kExitUsage for a wrong name and kExitServerError where the hub refuses, lies or has no
// such model. Returns kExitNotReachable where no hub answers, kExitNoInput for a model that mpsd
// cannot read, and kExitCannotWrite for the disk.
int RunPull(const HubOptions& options, std::ostream& out, std::ostream& err);

// Writes a table of the models in the cache, or a JSON array of them, to `out`. A line for each
// says what mpsd would serve of it, or why not (config_verdict.h).
int RunModels(const HubOptions& options, std::ostream& out, std::ostream& err);

// Writes one line, or a JSON object, to `out`: what mpsd would serve of the model at the hub, by
// which routes and how large it is, or why not. Fetches the small files alone, into a temporary
// folder; with HF_HUB_OFFLINE the cache is asked. Fails like RunPull().
int RunInspectModel(const HubOptions& options, std::ostream& out, std::ostream& err);

// Removes a model from the cache, with all its revisions.
int RunRemove(const HubOptions& options, std::ostream& out, std::ostream& err);

// The folder of the model, fetched if it is missing. Where the hub cannot be reached the cache
// answers for it. Progress as above.
absl::StatusOr<std::string> PullToServe(const std::string& model, std::ostream& err,
                                        bool is_terminal);

}  // namespace mpsd::cli
