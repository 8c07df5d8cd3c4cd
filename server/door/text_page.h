// TextPage: the door's answers about models that take texts.
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

// For a kTextPage route; lists have the models that the caller may use. REQUIRES: the gate gave
// `grant`. Thread-safe.
HttpReply TextPageOf(const DoorContext& context, const HttpCall& call, const Route& route,
                     Grant* grant);

// Without a name the route's usual model. Errors as FindTextModel(), FindUsualModel() and
// HttpGate::MayUse(). Thread-safe.
absl::StatusOr<TextModel> FindForCaller(const DoorContext& context, const HttpCall& call,
                                        TextRoute route, absl::string_view name, Grant* grant);

// TextErrorOf() for a text route, else ErrorReply(). `code`: an HTTP code that says more than the
// status, or 0. Pure.
HttpReply RouteError(const Route& route, const absl::Status& status, int code, StatusStyle style);

}  // namespace mpsd
