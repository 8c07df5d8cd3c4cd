// TuneConfig: a user's config, and the configs that `mpsd tune` makes from it.
//
//   the user's file ─┬─▶ PrivateText(candidate)   the model alone, on a socket of its own
//                    └─▶ ChangedText(candidate)   all of it, the model's stanza changed
//
// `mpsd check` has checked the file before; a candidate's daemon checks its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/tune/candidate.h"
#include "nlohmann/json.hpp"

namespace mpsd::tune {

// A client's address of the private daemon in `folder`. Pure.
std::string PrivateAddress(absl::string_view folder);

// One document and one model in it. A value; all methods are pure. Thread-compatible.
class TuneConfig {
 public:
  // `text` may have comments. `folder` is absolute: the file's relative paths start there. Uses the
  // stanza of the highest version. NOT_FOUND names the nearest model; INVALID_ARGUMENT: no config.
  static absl::StatusOr<TuneConfig> Parse(absl::string_view text, std::string folder,
                                          std::string model);

  // Values of the stanza; 0: not set.
  Placement placement() const;
  uint32_t max_batch_size() const;
  const std::string& model() const { return model_; }

  // Other models in the config.
  size_t others() const;

  // The daemon serves at PrivateAddress(folder). Keys that change the speed are the user's, except
  // kept answers: the run would measure the memory.
  std::string PrivateText(const Candidate& candidate, absl::string_view folder) const;

  // The comments stay. The new file will lie in `folder`: if that is another one, relative paths
  // become absolute.
  std::string ChangedText(const Candidate& candidate, const std::string& folder) const;

  // New values of the stanza's keys that change; may be an empty object.
  nlohmann::ordered_json Changes(const Candidate& candidate) const;

 private:
  TuneConfig(absl::string_view text, nlohmann::ordered_json document, std::string folder,
             std::string model, size_t index);

  const nlohmann::ordered_json& stanza() const { return document_["models"][index_]; }
  nlohmann::ordered_json ChangedStanza(const Candidate& candidate) const;

  std::string text_;  // text of the document
  nlohmann::ordered_json document_;
  std::string folder_;
  std::string model_;
  size_t index_;  // index of the stanza
};

}  // namespace mpsd::tune
