// encoder_model: models of text in a folder as Hugging Face's tools save it, run by libtorch
// without Python, an export or code from the folder.
//
// The layers are ours (Encoder), the sizes and weights are the folder's. The steps of loading, and
// their files:
//
//   ReadEncoderFolder   what the small files say                    encoder_folder.h
//   EncoderSpec         inputs, outputs and padding that follow     encoder_folder.h
//   WeightFiles         the safetensors, mapped                     weight_files.h
//   Encoder             takes its weights out of them               encoder.h
//   EncoderHead         the same, for what stands above             encoder_head.h
//
// and of each batch: PackTokens (token_batch.h), Encoder, EncoderHead.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// As LoadModel(), for the format "huggingface". Weights of F32, F16 and BF16 become floats, or
// those of the encoder what the order's precision says; its head computes in float.
// INVALID_ARGUMENT names what the folder has that is malformed, missing, or not known: a family, a
// head, a step, a tensor, code of its own, pickled weights. Called on the main thread, after
// StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadEncoder(const LoadOrder& order);

}  // namespace mpsd
