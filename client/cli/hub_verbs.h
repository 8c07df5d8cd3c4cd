// hub_verbs: the verbs `pull`, `models`, `rm` and `inspect ORG/NAME`: models from a hub, and in the
// cache of this host.
//
// They need no daemon. `serve ORG/NAME` pulls with PullToServe(), so both show the same progress.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd::cli {

// The options as on the command line; verbs.cc fills them.
struct HubOptions {
  std::string model;         // "ORG/NAME" or "ORG/NAME@REVISION"
  bool json = false;         // `pull` writes an event a line
  bool is_terminal = false;  // `err` is one
  std::string worker;        // empty: the mpsd-worker beside this program
};

// Whether `text` means a model at a hub: it has the right form, and there is no such path.
bool IsHubModel(const std::string& text);

// Fetches the model into the cache, and writes its folder to `out`. Progress goes to `err`: one
// changing line on a terminal, else a line every ten seconds; with `json` events go to `out`.
//
// Returns kExitUsage for a wrong name and kExitServerError if the hub refuses, lies or has no such
// model. Returns kExitNotReachable if no hub answers, kExitNoInput for a model that mpsd cannot
// read, and kExitCannotWrite for the disk.
int RunPull(const HubOptions& options, std::ostream& out, std::ostream& err);

// Writes the models in the cache to `out`, as a table or a JSON array. Each line says what mpsd
// would serve, or why not (config_verdict.h).
int RunModels(const HubOptions& options, std::ostream& out, std::ostream& err);

// Writes one line, or a JSON object, to `out`: what mpsd would serve of the model at the hub, by
// which routes and how large it is, or why not. Fetches the small files alone, into a temporary
// folder; with HF_HUB_OFFLINE the cache is asked. Fails like RunPull().
int RunInspectModel(const HubOptions& options, std::ostream& out, std::ostream& err);

// Removes a model from the cache, with all its revisions.
int RunRemove(const HubOptions& options, std::ostream& out, std::ostream& err);

// The folder of a model that is in the cache as a whole; empty otherwise. The hub is not asked.
std::string KeptFolder(const std::string& model);

// The model's folder, fetched if it is missing. If the hub cannot be reached, the cached one is
// used. Progress as above.
absl::StatusOr<std::string> PullToServe(const std::string& model, std::ostream& err,
                                        bool is_terminal);

}  // namespace mpsd::cli
