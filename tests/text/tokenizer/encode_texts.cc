// encode_texts: encodes the texts of stdin, for the comparison with the library `tokenizers`.
//
//   encode_texts TOKENIZER.json [--max N] [--left] [--bare] [--plain] [--pairs] [--rounds N]
//
// A text comes as 4 bytes with its size and then its bytes; its answer is 4 bytes with the count of
// its tokens, their ids of 4 bytes each, and as many types of one byte. All numbers are little
// endian. With --pairs two texts have one answer. --rounds encodes all texts so many times and
// says on stderr how many seconds of a processor one round took at best.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/files/whole_file.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {
namespace {

struct Arguments {
  EncodeOptions options;
  bool pairs = false;
  int rounds = 1;
};

Arguments Parse(int count, char** values) {
  Arguments arguments;
  for (int i = 2; i < count; ++i) {
    const absl::string_view name = values[i];
    if (name == "--left") arguments.options.cut_side = EncodeOptions::Side::kLeft;
    if (name == "--bare") arguments.options.adds_special_tokens = false;
    if (name == "--plain") arguments.options.reads_special_tokens = false;
    if (name == "--pairs") arguments.pairs = true;
    if (name == "--max") arguments.options.max_tokens = std::strtoul(values[++i], nullptr, 10);
    if (name == "--rounds") arguments.rounds = std::atoi(values[++i]);
  }
  return arguments;
}

std::vector<absl::string_view> Split(absl::string_view input) {
  std::vector<absl::string_view> texts;
  while (!input.empty()) {
    uint32_t size = 0;
    std::memcpy(&size, input.data(), sizeof(size));
    texts.push_back(input.substr(sizeof(size), size));
    input.remove_prefix(sizeof(size) + size);
  }
  return texts;
}

std::string EncodeAll(const Tokenizer& tokenizer, const std::vector<absl::string_view>& texts,
                      const Arguments& arguments) {
  std::string answers;
  for (size_t i = 0; i < texts.size(); i += arguments.pairs ? 2 : 1) {
    const auto encoding = arguments.pairs
                              ? tokenizer.EncodePair(texts[i], texts[i + 1], arguments.options)
                              : tokenizer.Encode(texts[i], arguments.options);
    if (!encoding.ok()) {
      std::cerr << encoding.status() << "\n";
      std::exit(1);
    }
    const auto count = static_cast<uint32_t>(encoding->ids.size());
    answers.append(reinterpret_cast<const char*>(&count), sizeof(count));
    answers.append(reinterpret_cast<const char*>(encoding->ids.data()), count * sizeof(int32_t));
    answers.append(reinterpret_cast<const char*>(encoding->type_ids.data()), count);
  }
  return answers;
}

double SecondsSince(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

int Run(int count, char** values) {
  const auto json = ReadWholeFile(values[1], kMaxTokenizerBytes);
  const std::clock_t load_start = std::clock();
  const auto tokenizer = json.ok() ? Tokenizer::Load(*json) : json.status();
  if (!tokenizer.ok()) {
    std::cerr << tokenizer.status() << "\n";
    return 1;
  }
  const double load_s = SecondsSince(load_start);
  const Arguments arguments = Parse(count, values);
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const std::vector<absl::string_view> texts = Split(input);
  std::string answers;
  double best_s = std::numeric_limits<double>::infinity();
  for (int round = 0; round < arguments.rounds; ++round) {
    const std::clock_t start = std::clock();
    answers = EncodeAll(*tokenizer, texts, arguments);
    best_s = std::min(best_s, SecondsSince(start));
  }
  std::cout << answers;
  std::cerr << "load " << load_s << " s, encode " << best_s << " s\n";
  return 0;
}

}  // namespace
}  // namespace mpsd::text

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "encode_texts TOKENIZER.json [OPTIONS] < TEXTS\n";
    return 2;
  }
  return mpsd::text::Run(argc, argv);
}
