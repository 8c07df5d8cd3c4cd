// StatusPage: a browser's page at "/".
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/control.pb.h"

namespace mpsd {

// Fills page.html. The page includes its script and style, and uses only the daemon's own routes:
// once a second for the status, while somebody looks, and for its forms. Without script a browser
// shows the state of the moment when it asked.
//
//   "/"            PageOf(status)   headers()
//   "/mpsd/status"                            the same status as JSON, for the script
//
// Owned by the HttpDoor. Thread-safe: constant after construction.
class StatusPage {
 public:
  StatusPage();

  // The page with a first state. Escapes texts of models and workers.
  std::string PageOf(const control::v1::StatusReply& status) const;

  // The page for a caller who may not see the state, and why. It can ask for a token.
  std::string RefusedPage(absl::string_view why) const;

  // Header lines for every answer with the page. With them a browser runs only the page's own
  // script, whatever texts contain, and shows the page in no frame of another site.
  const std::string& headers() const { return headers_; }

 private:
  // The page before the place of a refusal, from there to the place of the state, and after that.
  absl::string_view begin_;
  absl::string_view middle_;
  absl::string_view end_;
  std::string headers_;
};

}  // namespace mpsd
