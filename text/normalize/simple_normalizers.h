// simple_normalizers: normalizers with a rule of one line each, and a sequence of any.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/normalize/normalizer.h"
#include "text/unicode/forms.h"

namespace mpsd::text {

// Thread-safe.
class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<Normalizer>> steps)
      : steps_(std::move(steps)) {}
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  const std::vector<std::unique_ptr<Normalizer>> steps_;
};

// NFC, NFD, NFKC, NFKD. Thread-safe.
class FormNormalizer : public Normalizer {
 public:
  explicit FormNormalizer(Form form) : form_(form) {}
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override {
    AppendForm(form_, text, normalized);
    return normalized->size() <= most_bytes;
  }

 private:
  const Form form_;
};

// A final sigma becomes an ordinary one. Thread-safe.
class LowercaseNormalizer : public Normalizer {
 public:
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;
};

// Decomposes nothing, so it stands behind NFD or NFKD. Thread-safe.
class StripAccentsNormalizer : public Normalizer {
 public:
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;
};

// Drops spaces at a text's ends. Thread-safe.
class StripNormalizer : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  const bool left_;
  const bool right_;
};

// Leaves an empty text empty. Thread-safe.
class PrependNormalizer : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  const std::string prefix_;
};

// With `takes_runs` each run of two or more occurrences is replaced. Thread-safe. REQUIRES: the
// text is not empty.
class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(std::string text, bool takes_runs, std::string content)
      : text_(std::move(text)), takes_runs_(takes_runs), content_(std::move(content)) {}
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  const std::string text_;
  const bool takes_runs_;
  const std::string content_;
};

}  // namespace mpsd::text
