// HtmlText: escapes any text for HTML.
#pragma once

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The text with "&lt;" for "<" and so on, safe inside an element and a quoted attribute. Workers'
// last words and file names are untrusted. Pure.
inline std::string HtmlText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace mpsd
