// TraceContext: the caller's span that a call belongs to, as W3C's header traceparent names it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

struct TraceContext {
  std::string text;  // as it came; empty: the caller sent none
  bool sampled = false;

  absl::string_view trace_id() const { return View().substr(0, 32); }
  absl::string_view parent_id() const { return text.empty() ? View() : View().substr(33, 16); }

 private:
  // From the trace id on.
  absl::string_view View() const {
    return text.empty() ? absl::string_view() : absl::string_view(text).substr(3);
  }
};

// Reads "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" into `context`. False, and
// `context` unchanged, when `text` is no traceparent. Reads the known part of a later version, as
// W3C asks. Pure.
bool ReadTraceparent(absl::string_view text, TraceContext* context);

}  // namespace mpsd
