// FindEncoderMethods: which methods of a Metal driver begin and end command encoders.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// Each family of gpus has its own classes, which no header names. So a command buffer of `device`,
// an MTLDevice, makes an encoder of each kind, and is never committed. Encoders for drawing are
// left out: libtorch makes none.
//
// UNAVAILABLE names the object that the device does not make, FAILED_PRECONDITION the class without
// a known method. Called before any other thread uses the device.
absl::StatusOr<std::vector<EncoderMethod>> FindEncoderMethods(const ObjectiveC& runtime,
                                                              ObjectiveC::Object device);

}  // namespace mpsd
