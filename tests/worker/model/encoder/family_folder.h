// FamilyFolder: a small model of a family, written for one test, and transformers' answers to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

// A row of tokens, and the numbers that transformers made of it: the embedding, or logits and
// scores.
struct FamilyAnswer {
  std::vector<int64_t> ids;
  std::vector<int64_t> types;  // empty: the row has none
  std::vector<float> numbers;
};

// Reads families/NAME.json, which make_families.py has written, and makes the folder that it
// describes: the small files as they are, and the weights from their names. Owned by a test; the
// folder goes with it. Lives on one thread.
class FamilyFolder {
 public:
  // Throws what the file's reader throws when there is no such file.
  explicit FamilyFolder(const std::string& name);
  FamilyFolder(const FamilyFolder&) = delete;
  FamilyFolder& operator=(const FamilyFolder&) = delete;
  ~FamilyFolder();

  const std::string& path() const { return path_; }
  const std::vector<FamilyAnswer>& answers() const { return answers_; }

 private:
  const std::string path_;
  std::vector<FamilyAnswer> answers_;
};

}  // namespace mpsd
