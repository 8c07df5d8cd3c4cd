// TuneConfig: the config of a user, and what `mpsd tune` makes of it.
//
//   the user's file ─┬─▶ PrivateText(candidate)   the model alone, on a socket of its own
//                    └─▶ ChangedText(candidate)   all of it, the model's stanza changed
//
// It does not know the daemon's rules: `mpsd check` has read the file before, and the daemon of a
// candidate reads the text that is made of it.
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

// Names the socket of a private daemon whose folder is `folder`, as a client is told. Pure.
std::string PrivateAddress(absl::string_view folder);

// One document and one model in it. A value; all methods are pure. Thread-compatible.
class TuneConfig {
 public:
  // `text` is the file's, with comments, and `folder` the absolute path of the folder where it
  // lies, from which its relative paths start. The stanza is that of the highest version.
  // NOT_FOUND names the nearest model; INVALID_ARGUMENT where the text is no config at all.
  static absl::StatusOr<TuneConfig> Parse(absl::string_view text, std::string folder,
                                          std::string model);

  // The placement and the cap that the stanza says; 0: none.
  Placement placement() const;
  uint32_t max_batch_size() const;
  const std::string& model() const { return model_; }

  // How many other models the config names.
  size_t others() const;

  // The config of a daemon that serves the model as the candidate says, reached at
  // PrivateAddress(folder) alone and with its state in `folder`. What bears on the speed is as the
  // user's config says, but for kept answers: those would measure the memory and not the model.
  std::string PrivateText(const Candidate& candidate, absl::string_view folder) const;

  // The user's config with the candidate's values in the model's stanza; its comments stay. Its
  // relative paths become absolute ones where `folder`, where it will lie, is another folder.
  std::string ChangedText(const Candidate& candidate, const std::string& folder) const;

  // The keys of the stanza that differ then, with their new values: an empty object for none.
  nlohmann::ordered_json Changes(const Candidate& candidate) const;

 private:
  TuneConfig(absl::string_view text, nlohmann::ordered_json document, std::string folder,
             std::string model, size_t index);

  const nlohmann::ordered_json& stanza() const { return document_["models"][index_]; }
  nlohmann::ordered_json ChangedStanza(const Candidate& candidate) const;

  std::string text_;  // of the document
  nlohmann::ordered_json document_;
  std::string folder_;
  std::string model_;
  size_t index_;  // of the stanza
};

}  // namespace mpsd::tune
