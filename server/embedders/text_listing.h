// TextListing: what the text routes tell of the models that take texts.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/embedders/text_model.h"
#include "server/embedders/usual_model.h"

namespace mpsd {

// {"object":"list","data":[{"id","object":"model","created":0,"owned_by":"mpsd","task"}]}, as
// OpenAI's clients read it. Pure.
std::string ModelListJson(const std::vector<TextModel>& models);

// One element of that list. Pure.
std::string ModelEntryJson(const TextModel& model);

// What TEI's clients ask for: {"model_id","model_type","max_input_length",
// "max_client_batch_size","auto_truncate","version",…}. Beside what TEI says, "default_for" has the
// model of each task that answers requests which name none: {"embedding":"minilm"}. Pure.
std::string InfoJson(const TextModel& model, size_t most_rows, absl::string_view version,
                     const std::vector<UsualModel>& usual);

}  // namespace mpsd
