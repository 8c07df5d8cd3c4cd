// encoder_model: models of text in a folder saved by Hugging Face's tools.
//
//   ReadEncoderFolder   what the small files say                    encoder_folder.h
//   EncoderSpec         the resulting inputs, outputs and padding   encoder_folder.h
//   WeightFiles         the safetensors, mapped                     weight_files.h
//   Encoder             takes its weights from the files            encoder.h
//   EncoderHead         takes its weights from the files            encoder_head.h
//
// Each batch passes PackTokens (token_batch.h), Encoder, EncoderHead.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// LoadModel() for "huggingface". The encoder's weights become the order's precision, otherwise
// floats; the head computes in float. INVALID_ARGUMENT names what is malformed, missing or unknown.
// Called on the main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadEncoder(const LoadOrder& order);

}  // namespace mpsd
