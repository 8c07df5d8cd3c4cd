// TextListing: lists of the models that take texts.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/usual_model.h"

namespace mpsd {

// In OpenAI's form:
// {"object":"list","data":[{"id","object":"model","created":0,"owned_by":"mpsd","task"}]}. Pure.
std::string ModelListJson(const std::vector<TextModel>& models);

// One element of that list. Pure.
std::string ModelEntryJson(const TextModel& model);

// In TEI's form: {"model_id","model_type","max_input_length",
// "max_client_batch_size","auto_truncate","version",…}. "default_for" adds each task's usual model.
// Pure.
std::string InfoJson(const TextModel& model, size_t most_rows, absl::string_view version,
                     const std::vector<UsualModel>& usual);

}  // namespace mpsd
