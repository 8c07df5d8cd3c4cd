// Admission: takes a message, and lets it in or not.
#pragma once

#include "proto/base/clock.h"
#include "server/admit/row_writer.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Thread-safe: no state of its own. Runs on the gRPC thread that read the message: finds the model,
// validates, reserves rows, copies the payload into them, and hands the request over; where there
// is no room yet the queue has it copied later. Never blocks.
class Admission final : public InferHandler {
 public:
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
