// encoder_model: models of text in a folder saved by Hugging Face's tools. libtorch runs them
// without Python, an export or code from the folder.
//
// The layers are ours (Encoder); the sizes and weights are the folder's. The steps of loading, and
// their files:
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

// LoadModel() for the format "huggingface". Weights of F32, F16 and BF16 become floats. The
// encoder's weights become the order's precision, if it names one; the head computes in float.
// INVALID_ARGUMENT names what in the folder is malformed, missing or unknown: a family, a head, a
// step, a tensor, code of its own, pickled weights. Called on the main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadEncoder(const LoadOrder& order);

}  // namespace mpsd
