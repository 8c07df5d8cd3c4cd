#include "client/manual/page_head.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/manual/roff.h"

namespace mpsd::cli {

std::string PageHead(absl::string_view name, int section, absl::string_view what,
                     const PageFacts& facts) {
  return absl::StrCat(".TH ", RoffText(absl::AsciiStrToUpper(name)), " ", section, " ", facts.date,
                      " \"mpsd ", facts.version, "\" mpsd\n", RoffSection("NAME"), RoffText(name),
                      " \\- ", RoffText(what), "\n");
}

}  // namespace mpsd::cli
