// hub_verbs: the verbs `pull`, `models`, `rm` and `inspect ORG/NAME`, which need no daemon.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd::cli {

// Filled by verbs.cc.
struct HubOptions {
  std::string model;         // "ORG/NAME" or "ORG/NAME@REVISION"
  bool json = false;         // `pull`: an event a line
  bool is_terminal = false;  // `err` is one
  std::string worker;        // empty: mpsd-worker beside this program
};

// It has the right form, and there is no such path.
bool IsHubModel(const std::string& text);

// Fetches the model into the cache, and writes its folder to `out`. Progress goes to `err`: one
// changing line on a terminal, else a line every ten seconds. With `json` events go to `out`.
//
//   kExitUsage          a wrong name
//   kExitServerError    the hub refuses, lies or has no such model
//   kExitNotReachable   no hub answers
//   kExitNoInput        mpsd cannot read the model
//   kExitCannotWrite    the disk
int RunPull(const HubOptions& options, std::ostream& out, std::ostream& err);

// A table or a JSON array. Each line says what mpsd would serve, or why not (config_verdict.h).
int RunModels(const HubOptions& options, std::ostream& out, std::ostream& err);

// One line or a JSON object: what mpsd would serve by which routes, and the size, or why not.
// Fetches only small files, into a temporary folder; with HF_HUB_OFFLINE asks the cache. Fails like
// RunPull().
int RunInspectModel(const HubOptions& options, std::ostream& out, std::ostream& err);

// Removes all revisions.
int RunRemove(const HubOptions& options, std::ostream& out, std::ostream& err);

// The folder of a whole model in the cache; empty otherwise. Does not ask the hub.
std::string KeptFolder(const std::string& model);

// Fetched if it is missing; the cached one if the hub cannot be reached, or has too many requests.
// Progress as above.
absl::StatusOr<std::string> PullToServe(const std::string& model, std::ostream& err,
                                        bool is_terminal);

}  // namespace mpsd::cli
