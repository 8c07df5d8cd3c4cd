// SentenceConfig: what follows the encoder in a sentence-transformers folder.
//
// Such a folder lists its steps in modules.json: the encoder, then Pooling, whose settings stand in
// 1_Pooling/config.json, then perhaps Normalize, and others. A folder of the encoder alone has
// neither file, and gets the mean, which most encoders of sentences use.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// How the vectors of a row's tokens become the row's vector. kMean: the mean of those that the mask
// keeps. kCls: the first one, of the token [CLS].
enum class BertPooling { kMean, kCls };

// The pooling of a 1_Pooling/config.json whose text is `json`. INVALID_ARGUMENT names the modes
// where they are others than either of these two. Pure.
absl::StatusOr<BertPooling> ParsePooling(absl::string_view json);

// OK where the steps of a modules.json whose text is `json` are Transformer, Pooling and Normalize,
// or fewer. INVALID_ARGUMENT names a step that the importer would lose, such as Dense. Pure.
absl::Status CheckModules(absl::string_view json);

}  // namespace mpsd
