// TraceContext: the caller's span that a call belongs to, from W3C's header traceparent.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// The client's part of a distributed trace. Taken from the call's metadata and kept with the call.
// It goes into the span of each traced request, so that our span hangs below the client's. A value:
// it holds only `text`, and the ids are views of it.
//
//   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//   |  trace_id()                       parent_id()      flags: 1 is sampled
//   version
struct TraceContext {
  std::string text;  // as received; empty: the caller sent none
  bool sampled = false;

  absl::string_view trace_id() const { return View().substr(0, 32); }
  absl::string_view parent_id() const { return text.empty() ? View() : View().substr(33, 16); }

 private:
  // From the trace id on.
  absl::string_view View() const {
    return text.empty() ? absl::string_view() : absl::string_view(text).substr(3);
  }
};

// Reads the header's value into `context`. False, with `context` unchanged, if `text` is no
// traceparent: as W3C asks, the call goes on without one, without error. For a later version it
// reads the known part. At most 256 printable characters are accepted, because the text is echoed
// to the client. Pure.
bool ReadTraceparent(absl::string_view text, TraceContext* context);

}  // namespace mpsd
