// ReadFrame: the frame that a tokenizer.json calls its post-processor.
#pragma once

#include "absl/status/statusor.h"
#include "text/tokenizer/fields.h"
#include "text/tokenizer/frame.h"

namespace mpsd::text {

// Of TemplateProcessing, BertProcessing and RobertaProcessing; of ByteLevel, which adds nothing; of
// a sequence in which at most one adds something. INVALID_ARGUMENT names what is wrong. Pure.
absl::StatusOr<Frame> ReadFrame(const Json& json);

}  // namespace mpsd::text
