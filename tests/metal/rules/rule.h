// Rule: what Apple's documentation asks of a program that uses Metal, and who broke it.
//
// The stand-in of Metal (tests/metal/README.md) goes on after a broken rule. A real driver would
// crash, hang, or answer wrongly, and often it would do none of these.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace mpsd::standin {

// One rule: a name for counts, and its sentence. Constants only; compared by address.
struct Rule {
  const char* name;
  const char* sentence;
};

// Counts broken rules, and writes each of the first few to stderr. A process has one: Broken()
// reports to All(). Thread-safe.
class BrokenRules {
 public:
  static BrokenRules& All();

  void Add(const Rule& rule, const std::string& what);

  // How often the rule was broken, and how often any.
  uint64_t Count(const Rule& rule) const;
  uint64_t Total() const;

  // "two-threads 61, encode-after-commit 49"; "none" if no rule was broken.
  std::string Summary() const;

  // Forgets all counts. For tests.
  void Clear();

 private:
  static constexpr uint64_t kMostLines = 5;  // for each rule

  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;  // guarded by mutex_
};

// `what` says which object and call broke the rule.
inline void Broken(const Rule& rule, const std::string& what) {
  BrokenRules::All().Add(rule, what);
}

}  // namespace mpsd::standin
