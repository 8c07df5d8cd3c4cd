#include "text/unicode/graphemes.h"

#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

using Class = GraphemeClass;

bool IsControl(Class c) { return c == Class::kControl || c == Class::kCr || c == Class::kLf; }

bool IsExtending(Class c) {
  return c == Class::kExtend || c == Class::kConjunctExtend || c == Class::kLinker;
}

bool JoinsHangul(Class before, Class next) {
  switch (before) {
    case Class::kHangulL:
      return next == Class::kHangulL || next == Class::kHangulV || next == Class::kHangulLv ||
             next == Class::kHangulLvt;
    case Class::kHangulLv:
    case Class::kHangulV:
      return next == Class::kHangulV || next == Class::kHangulT;
    case Class::kHangulLvt:
    case Class::kHangulT:
      return next == Class::kHangulT;
    default:
      return false;
  }
}

// The kind of beginning that the characters so far make. Lives on one thread.
class GraphemeState {
 public:
  explicit GraphemeState(Class first) { Add(first); }

  bool Joins(Class next) const {
    if (last_ == Class::kCr && next == Class::kLf) return true;
    if (IsControl(last_) || IsControl(next)) return false;
    if (IsExtending(next) || next == Class::kJoiner || next == Class::kSpacingMark) return true;
    if (last_ == Class::kPrepend || JoinsHangul(last_, next)) return true;
    if (next == Class::kConsonant) return conjunct_ == Conjunct::kLinked;
    return next == Class::kPictograph && emoji_ == Emoji::kJoined;
  }

  void Add(Class next) {
    AddToConjunct(next);
    AddToEmoji(next);
    last_ = next;
  }

 private:
  // A consonant, then extenders with a linker.
  enum class Conjunct { kNone, kConsonant, kLinked };
  // A pictograph, extenders, then a joiner.
  enum class Emoji { kNone, kPictograph, kJoined };

  void AddToConjunct(Class next) {
    if (next == Class::kConsonant) {
      conjunct_ = Conjunct::kConsonant;
    } else if (next == Class::kLinker) {
      if (conjunct_ != Conjunct::kNone) conjunct_ = Conjunct::kLinked;
    } else if (next != Class::kConjunctExtend && next != Class::kJoiner) {
      conjunct_ = Conjunct::kNone;
    }
  }

  void AddToEmoji(Class next) {
    if (next == Class::kPictograph) {
      emoji_ = Emoji::kPictograph;
    } else if (emoji_ == Emoji::kPictograph && next == Class::kJoiner) {
      emoji_ = Emoji::kJoined;
    } else if (emoji_ != Emoji::kPictograph || !IsExtending(next)) {
      emoji_ = Emoji::kNone;
    }
  }

  Class last_ = Class::kOther;
  Conjunct conjunct_ = Conjunct::kNone;
  Emoji emoji_ = Emoji::kNone;
};

}  // namespace

size_t GraphemeEnd(absl::string_view text, size_t begin) {
  const char* at = text.data() + begin;
  const char* const end = text.data() + text.size();
  GraphemeState state(GraphemeClassOf(TakeCharacter(&at)));
  while (at != end) {
    const char* next = at;
    const Class of_next = GraphemeClassOf(TakeCharacter(&next));
    if (!state.Joins(of_next)) break;
    state.Add(of_next);
    at = next;
  }
  return static_cast<size_t>(at - text.data());
}

}  // namespace mpsd::text
