// RepositoryMethods: index, load and unload of models.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/http/calls/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// RepositoryIndex, RepositoryModelLoad and RepositoryModelUnload. Triton's "repository" is the
// config's set of models here. `control` outlives the table.
//
// Load and unload are deferred: the answer comes when the job has ended, perhaps minutes later,
// from the reloader's thread, or at once if the reloader refuses the job. A client that leaves does
// not stop the job.
//
// INVALID_ARGUMENT for a name that is empty, longer than kMaxNameBytes or looks like a path, and
// for an unknown parameter or one of another type. UNIMPLEMENTED for a repository's name: there is
// one without a name. ModelControl's words pass through WithoutPathsAndErrnos().
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// For clients: "(…)" replaces each path, and each text and number of an errno. A path is a word or
// a quoted text with a '/'. Drops all beyond 4 KiB. Pure.
std::string WithoutPathsAndErrnos(absl::string_view text);

}  // namespace mpsd
