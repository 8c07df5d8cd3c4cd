// TextPage: the door's own answers about models that take texts.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/door/door_context.h"
#include "server/door/route/route.h"
#include "server/http/http_call.h"

namespace mpsd {

// The reply for a kTextPage route: /v1/models, one of these models, /info, Ollama's lists. The list
// has the models that the caller may use. REQUIRES: the gate has let the caller in, and gave
// `grant`. Thread-safe.
HttpReply TextPageOf(const DoorContext& context, const HttpCall& call, const Route& route,
                     Grant* grant);

// The named model, or without a name the route's usual model, if the caller may use it. Errors as
// FindTextModel(), FindUsualModel() and HttpGate::MayUse(). Thread-safe.
absl::StatusOr<TextModel> FindForCaller(const DoorContext& context, const HttpCall& call,
                                        TextRoute route, absl::string_view name, Grant* grant);

// The reply for a status in the route's words: TextErrorOf() for a text route, else ErrorReply().
// `code` is an HTTP code that says more than the status; else 0. Pure.
HttpReply RouteError(const Route& route, const absl::Status& status, int code, StatusStyle style);

}  // namespace mpsd
