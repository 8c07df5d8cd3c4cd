// FindEncoderMethods: which methods of a Metal driver begin and end command encoders.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// The methods of the classes of this device's command buffers and encoders. Each family of gpus has
// its own classes, which no header names. So one command buffer is made on `device`, an MTLDevice,
// and asked for an encoder of each kind. The buffer is never committed, so the gpu does nothing.
// Encoders for drawing are left out: libtorch makes none.
//
// UNAVAILABLE names the object that the device does not make. FAILED_PRECONDITION names the class
// that has no method known here. Called before any other thread uses the device.
absl::StatusOr<std::vector<EncoderMethod>> FindEncoderMethods(const ObjectiveC& runtime,
                                                              ObjectiveC::Object device);

}  // namespace mpsd
