// RepositoryMethods: index, load and unload of models.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/http/calls/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// Adds RepositoryIndex, RepositoryModelLoad and RepositoryModelUnload of the inference service. The
// names are Triton's; here the "repository" is the config's set of models. `control` outlives the
// table.
//
//   RepositoryIndex         every version that ModelControl lists, or those that are ready; answers
//                           at once
//   RepositoryModelLoad     brings a model up to date with its config; the parameter "config" is
//                           JSON that overrides configured values
//   RepositoryModelUnload   stops serving all versions of a model
//
// Load and unload are deferred methods: the call's thread hands the job to ModelControl and serves
// other calls. The client has its answer when the job has ended, perhaps minutes later. It comes
// from the reloader's thread, or at once if the reloader refuses the job. A client that leaves does
// not stop the job.
//
// Nothing from a client becomes part of a path. INVALID_ARGUMENT for a name that is empty, longer
// than kMaxNameBytes or looks like a path, and for an unknown parameter or one of another type.
// UNIMPLEMENTED for a repository's name, since there is one and it has none. ModelControl's words
// about a job pass through WithoutPathsAndErrnos() first.
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// `text` as a client may see it: "(…)" replaces each path, and each text and number of an errno. A
// path is a quoted text, or a word, with a '/' in it. The reloader's errors are for operators and
// name files; the log has the whole text. Reads the first 4 KiB and drops the rest, since a text
// may repeat a client's words. Pure.
std::string WithoutPathsAndErrnos(absl::string_view text);

}  // namespace mpsd
