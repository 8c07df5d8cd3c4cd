#include "tests/worker/model/encoder/family_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using Json = nlohmann::json;

// FNV-1a.
uint64_t SeedOf(const std::string& name) {
  uint64_t seed = 0xCBF29CE484222325;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return seed;
}

// splitmix64.
uint64_t Scramble(uint64_t number) {
  uint64_t z = number * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

template <typename T>
void AppendAs(float value, std::string* bytes) {
  const T number(value);
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// As make_families.py makes them: multiples of 1/128 below a half, about 1 for the weights of
// norms. Every dtype holds them exactly.
std::string WeightBytes(const std::string& name, const std::string& dtype, const Json& shape) {
  uint64_t count = 1;
  for (const Json& dim : shape) count *= dim.get<uint64_t>();
  const bool is_norm = shape.size() == 1 && absl::EndsWith(name, ".weight");
  const uint64_t seed = SeedOf(name);
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) {
    const auto step = static_cast<int>(Scramble(seed + i) >> 57) - 64;
    const float value = static_cast<float>(step) / 128.0F + (is_norm ? 1.0F : 0.0F);
    if (dtype == "F16") {
      AppendAs<c10::Half>(value, &bytes);
    } else if (dtype == "BF16") {
      AppendAs<c10::BFloat16>(value, &bytes);
    } else {
      AppendAs<float>(value, &bytes);
    }
  }
  return bytes;
}

std::string SafetensorsOf(const Json& tensors) {
  Json header = Json::object();
  std::string data;
  for (const Json& tensor : tensors) {
    const std::string name = tensor[0];
    const size_t begin = data.size();
    data += WeightBytes(name, tensor[1], tensor[2]);
    header[name] = {
        {"dtype", tensor[1]}, {"shape", tensor[2]}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  const uint64_t text_bytes = text.size();
  std::string file(sizeof(text_bytes), '\0');
  std::memcpy(file.data(), &text_bytes, sizeof(text_bytes));
  return file + text + data;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// The folder in the sources. A host with the test's program alone has it in the environment.
std::string FamiliesFolder() {
  const char* const told = std::getenv("MPSD_TEST_FAMILIES");
  return told == nullptr ? MPSD_FAMILIES : told;
}

}  // namespace

FamilyFolder::FamilyFolder(const std::string& name)
    : path_(testing::TempDir() + "mpsd_family_" + name + "_" + std::to_string(getpid())) {
  std::ifstream file(FamiliesFolder() + "/" + name + ".json");
  const Json family = Json::parse(file);
  for (const auto& item : family["files"].items()) {
    WriteFile(path_ + "/" + item.key(), item.value().dump());
  }
  for (const auto& item : family["weights"].items()) {
    WriteFile(path_ + "/" + item.key(), SafetensorsOf(item.value()));
  }
  for (const Json& row : family["rows"]) {
    FamilyAnswer& answer = answers_.emplace_back();
    answer.ids = row["input_ids"].get<std::vector<int64_t>>();
    if (row.contains("token_type_ids")) {
      answer.types = row["token_type_ids"].get<std::vector<int64_t>>();
    }
    answer.numbers = row["answer"].get<std::vector<float>>();
  }
}

FamilyFolder::~FamilyFolder() { std::filesystem::remove_all(path_); }

}  // namespace mpsd
