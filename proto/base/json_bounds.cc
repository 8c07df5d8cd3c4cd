#include "proto/base/json_bounds.h"

namespace mpsd {

JsonBound CheckJsonBounds(absl::string_view text, size_t most_depth, size_t most_values) {
  size_t depth = 0;
  size_t value_count = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c == ',' || c == '{' || c == '[') ++value_count;
    if (depth > most_depth) return JsonBound::kTooDeep;
    if (value_count > most_values) return JsonBound::kTooManyValues;
  }
  return JsonBound::kWithin;
}

}  // namespace mpsd
