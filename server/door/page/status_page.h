// StatusPage: a browser's page at "/".
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/control.pb.h"

namespace mpsd {

// Fills page.html, which uses only the daemon's own routes. Without script a browser shows the
// state of the moment when it asked. Owned by the HttpDoor. Thread-safe: constant.
class StatusPage {
 public:
  StatusPage();

  // Escapes texts of models and workers.
  std::string PageOf(const control::v1::StatusReply& status) const;

  // For a caller who may not see the state. The page can ask for a token.
  std::string RefusedPage(absl::string_view why) const;

  // For every answer with the page. A browser then runs only the page's own script, whatever texts
  // contain, and shows the page in no frame of another site.
  const std::string& headers() const { return headers_; }

 private:
  // Before a refusal's place, from there to the state's place, and after that.
  absl::string_view begin_;
  absl::string_view middle_;
  absl::string_view end_;
  std::string headers_;
};

}  // namespace mpsd
