// TraceContext: the caller's span, from W3C's header traceparent.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// Our span of a traced request hangs below it. The ids are views of `text`.
//
//   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//   |  trace_id()                       parent_id()      flags: 1 is sampled
//   version
struct TraceContext {
  std::string text;  // as received; empty: none
  bool sampled = false;

  absl::string_view trace_id() const { return View().substr(0, 32); }
  absl::string_view parent_id() const { return text.empty() ? View() : View().substr(33, 16); }

 private:
  // From the trace id on.
  absl::string_view View() const {
    return text.empty() ? absl::string_view() : absl::string_view(text).substr(3);
  }
};

// False, with `context` unchanged, if `text` is no traceparent: as W3C asks, the call goes on. A
// later version's known part is read. At most 256 printable characters are accepted, because the
// client gets them back. Pure.
bool ReadTraceparent(absl::string_view text, TraceContext* context);

}  // namespace mpsd
