// TuneConfig: a user's config, and the configs that `mpsd tune` makes from it.
//
//   the user's file ─┬─▶ PrivateText(candidate)   the model alone, on a socket of its own
//                    └─▶ ChangedText(candidate)   all of it, the model's stanza changed
//
// It does not know the daemon's rules: `mpsd check` has checked the file before, and a candidate's
// daemon checks the text made from it.
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

// The address, for a client, of the private daemon in `folder`. Pure.
std::string PrivateAddress(absl::string_view folder);

// One document and one model in it. A plain value; all methods are pure. Thread-compatible.
class TuneConfig {
 public:
  // `text` is the file's text, with comments. `folder` is the absolute path of the file's folder,
  // where its relative paths start. Uses the stanza of the highest version. NOT_FOUND names the
  // nearest model; INVALID_ARGUMENT if the text is no config at all.
  static absl::StatusOr<TuneConfig> Parse(absl::string_view text, std::string folder,
                                          std::string model);

  // The stanza's placement and batch cap; 0: not set.
  Placement placement() const;
  uint32_t max_batch_size() const;
  const std::string& model() const { return model_; }

  // How many other models the config names.
  size_t others() const;

  // The config of a daemon that serves the candidate, only at PrivateAddress(folder), with its
  // state in `folder`. Keys that change the speed are the user's, except kept answers: with them
  // the run would measure the memory and not the model.
  std::string PrivateText(const Candidate& candidate, absl::string_view folder) const;

  // The user's config with the candidate's values in the model's stanza; its comments stay.
  // `folder` is where the new file will lie. If that is another folder, relative paths become
  // absolute.
  std::string ChangedText(const Candidate& candidate, const std::string& folder) const;

  // The stanza's keys that the candidate changes, with their new values. An empty object if there
  // are none.
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
