// RepositoryMethods: the methods about the set of models: index, load, unload.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/entry/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// Adds RepositoryIndex, RepositoryModelLoad and RepositoryModelUnload of the inference service.
// They are Triton's names; the "repository" is the set of models in the config. `control` outlives
// the table.
//
//   RepositoryIndex         every version that ModelControl lists, or those that are ready; answers
//                           at once
//   RepositoryModelLoad     brings a model up to date with its config; the parameter "config" is
//                           JSON that overrides configured values
//   RepositoryModelUnload   stops serving all versions of a model
//
// Load and unload are deferred methods: the queue thread hands the job to ModelControl and goes on
// with other calls, and the client has its answer when the job has ended, minutes later perhaps.
// The answer comes from the reloader's thread, or at once where the reloader refuses the job. A
// client that leaves meanwhile does not stop the job.
//
// Nothing that a client says becomes part of a path. INVALID_ARGUMENT for a name that is empty,
// longer than kMaxNameBytes or looks like a path, and for a parameter that is unknown or of another
// type; UNIMPLEMENTED for the name of a repository, since there is one and it has none. What
// ModelControl says of a job passes through WithoutPathsAndErrnos() first.
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// `text` as a client may see it: "(…)" stands for each path, quoted or not, and for each text and
// number of an errno. A path is a quoted text, or a word, with a '/' in it. Errors of the reloader
// are written for operators and name files; the log has the whole text. Reads the first 4 KiB and
// drops the rest, since a text may repeat what a client sent. Pure.
std::string WithoutPathsAndErrnos(absl::string_view text);

}  // namespace mpsd
