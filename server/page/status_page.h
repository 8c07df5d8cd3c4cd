// StatusPage: the page that a browser gets at "/".
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/control.pb.h"

namespace mpsd {

// Fills page.html. The page has its script and its style inside, and asks for nothing but the
// daemon's own routes: once a second, while somebody looks at it, for the status, and for what a
// form of it sends. A browser without script shows the state of the moment in which the page was
// asked for.
//
//   "/"            PageOf(status)   headers()
//   "/mpsd/status"                            the same status as JSON, for the script
//
// Owned by the HttpDoor. Thread-safe: constant after construction.
class StatusPage {
 public:
  StatusPage();

  // The page with a first state in it. Texts of models and workers are escaped.
  std::string PageOf(const control::v1::StatusReply& status) const;

  // The page for a caller who may not see the state, and why not. It can ask for a token.
  std::string RefusedPage(absl::string_view why) const;

  // Of every answer with the page, lines with their breaks: a browser runs the page's own script
  // and no other, whatever a text has brought, and shows the page in no frame of another site.
  const std::string& headers() const { return headers_; }

 private:
  // The page before the place of a refusal, between it and the place of the state, and after both.
  absl::string_view begin_;
  absl::string_view middle_;
  absl::string_view end_;
  std::string headers_;
};

}  // namespace mpsd
