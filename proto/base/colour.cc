#include "proto/base/colour.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

absl::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::string_view BeginOf(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kGreen:
      return "\033[32m";
    case Colour::kYellow:
      return "\033[33m";
    case Colour::kRed:
      return "\033[31m";
  }
  return "";
}

}  // namespace

bool TakesColours(int fd) {
  return Variable("NO_COLOR").empty() && Variable("TERM") != "dumb" && isatty(fd) == 1;
}

std::string Coloured(absl::string_view text, Colour colour, bool colours) {
  if (!colours || colour == Colour::kNone) return std::string(text);
  return absl::StrCat(BeginOf(colour), text, "\033[0m");
}

}  // namespace mpsd
