// HtmlText: any text as a text of HTML.
#pragma once

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The text with "&lt;" for "<" and so on, so that it stands for itself inside an element and inside
// a quoted attribute, whatever it is: last words of workers and names of files are untrusted. Pure.
inline std::string HtmlText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace mpsd
