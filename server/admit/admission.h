// Admission: decides whether a request enters its model's queue.
#pragma once

#include "proto/base/clock.h"
#include "server/admit/row_writer.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Steps 3 to 6 of a request, on the thread that read the message: finds the model, validates the
// message, reserves rows, copies the payload into them and commits the request. Where there is no
// room yet, the queue has the payload copied later. Knows no transport and no worker. Owned by the
// daemon. Never blocks. Thread-safe: has no state of its own.
class Admission final : public InferHandler {
 public:
  // `models` and `clock` outlive it.
  Admission(const ModelDirectory* models, const Clock* clock) : models_(models), clock_(clock) {}

  bool Handle(const InferMessage& message, Request* request) override;

 private:
  absl::Status Admit(const InferMessage& message, Request* request, bool* copied) const;
  absl::Status Enter(const InferMessage& message, ServedModel* model, Request* request,
                     bool* copied) const;

  const ModelDirectory* const models_;
  const Clock* const clock_;
  const RowWriter writer_;
};

}  // namespace mpsd
