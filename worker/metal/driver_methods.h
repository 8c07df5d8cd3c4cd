// FindEncoderMethods: which methods of a Metal driver begin and end command encoders.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// The methods of the classes that this device's command buffers and encoders have. Each family of
// gpus has classes of its own, which no header names, so one command buffer is made on `device`, an
// MTLDevice, and asked for an encoder of each kind; it is never committed, so the gpu does nothing.
// Encoders for drawing are left out: libtorch makes none.
//
// UNAVAILABLE says which object the device does not make; FAILED_PRECONDITION which class has no
// method that is known here. Called before any other thread uses the device.
absl::StatusOr<std::vector<EncoderMethod>> FindEncoderMethods(const ObjectiveC& runtime,
                                                              ObjectiveC::Object device);

}  // namespace mpsd
