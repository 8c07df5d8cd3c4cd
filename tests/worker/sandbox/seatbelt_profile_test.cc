// The profile as macOS would read it: its form, and what its rules decide for a path or an act. The
// last rule that fits decides.
#include "worker/sandbox/seatbelt_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mpsd {
namespace {

using testing::HasSubstr;

// A word, a quoted text, or a list of these.
struct Form {
  enum class Kind { kWord, kText, kList } kind = Kind::kList;
  std::string text;
  std::vector<Form> items;

  bool IsList(const char* head) const {
    return kind == Kind::kList && !items.empty() && items[0].kind == Kind::kWord &&
           items[0].text == head;
  }
};

// Reads forms up to the end; nothing where a parenthesis or a quote is left over.
class FormReader {
 public:
  explicit FormReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<Form>> ReadAll() {
    std::vector<Form> forms;
    for (SkipSpace(); at_ < text_.size(); SkipSpace()) {
      std::optional<Form> form = Read();
      if (!form.has_value() || form->kind != Form::Kind::kList) return std::nullopt;
      forms.push_back(*std::move(form));
    }
    return forms;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_[at_] != ' ' && text_[at_] != '\n') {
        return;
      } else {
        ++at_;
      }
    }
  }

  std::optional<Form> Read() {
    if (text_[at_] == '(') return ReadList();
    if (text_[at_] == '"') return ReadText();
    Form word{Form::Kind::kWord, "", {}};
    while (at_ < text_.size() &&
           std::string_view(" \n()\";").find(text_[at_]) == std::string::npos) {
      word.text += text_[at_++];
    }
    if (word.text.empty()) return std::nullopt;
    return word;
  }

  std::optional<Form> ReadList() {
    Form list;
    ++at_;
    for (SkipSpace(); at_ < text_.size() && text_[at_] != ')'; SkipSpace()) {
      std::optional<Form> item = Read();
      if (!item.has_value()) return std::nullopt;
      list.items.push_back(*std::move(item));
    }
    if (at_++ >= text_.size()) return std::nullopt;
    return list;
  }

  std::optional<Form> ReadText() {
    Form quoted{Form::Kind::kText, "", {}};
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) quoted.text += text_[at_];
    }
    if (at_++ >= text_.size()) return std::nullopt;
    return quoted;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// The operations of macOS that the profile may name, with their wildcards.
const std::set<std::string>& KnownOperations() {
  static const auto* const known = new std::set<std::string>{
      "default",     "process-exec*",  "process-fork",    "process-info*", "signal",
      "mach-priv*",  "job-creation",   "appleevent-send", "network*",      "system-socket",
      "nvram*",      "system-kext*",   "sysctl-write",    "file-read*",    "file-read-data",
      "file-write*", "file-write-data"};
  return *known;
}

bool Covers(const std::string& rule, const std::string& operation) {
  if (rule == "default" || rule == operation) return true;
  return rule.back() == '*' && operation.rfind(rule.substr(0, rule.size() - 1), 0) == 0;
}

bool Fits(const Form& filter, const std::string& path) {
  if (filter.IsList("target")) return filter.items[1].text == path;
  const std::string& root = filter.items[1].text;
  if (filter.IsList("literal") || path == root) return path == root;
  return path.rfind(root + "/", 0) == 0;
}

class Profile {
 public:
  explicit Profile(const SeatbeltPaths& paths) {
    const auto text = SeatbeltProfile(paths);
    EXPECT_TRUE(text.ok()) << text.status();
    const auto forms = FormReader(*text).ReadAll();
    EXPECT_TRUE(forms.has_value()) << *text;
    if (forms.has_value()) forms_ = *forms;
  }

  const std::vector<Form>& forms() const { return forms_; }

  // Whether the operation is allowed on a path; for signals and the like the path is "others".
  bool Allows(const std::string& operation, const std::string& path = "") const {
    bool allowed = false;
    for (const Form& rule : forms_) {
      if (!rule.IsList("allow") && !rule.IsList("deny")) continue;
      bool covers = false;
      bool fits = true;
      for (size_t i = 1; i < rule.items.size(); ++i) {
        const Form& item = rule.items[i];
        if (item.kind == Form::Kind::kWord) covers |= Covers(item.text, operation);
      }
      if (rule.items.back().kind == Form::Kind::kList) {
        fits = false;
        for (const Form& item : rule.items) {
          if (item.kind == Form::Kind::kList) fits |= Fits(item, path);
        }
      }
      if (covers && fits) allowed = rule.IsList("allow");
    }
    return allowed;
  }

 private:
  std::vector<Form> forms_;
};

SeatbeltPaths SomePaths() {
  return {{"/Users/ann/models/m.pt", "/opt/mpsd/lib"}, {"/private/var/folders/x/T/mpsd-1"}};
}

TEST(SeatbeltProfile, IsOneListAfterAnotherOfKnownRules) {
  const Profile profile(SomePaths());
  ASSERT_GT(profile.forms().size(), 2u);
  EXPECT_TRUE(profile.forms()[0].IsList("version"));
  EXPECT_EQ(profile.forms()[0].items[1].text, "1");
  for (size_t i = 1; i < profile.forms().size(); ++i) {
    const Form& rule = profile.forms()[i];
    ASSERT_TRUE(rule.IsList("allow") || rule.IsList("deny"));
    ASSERT_GE(rule.items.size(), 2u);
    for (size_t at = 1; at < rule.items.size(); ++at) {
      const Form& item = rule.items[at];
      if (item.kind == Form::Kind::kWord) {
        EXPECT_EQ(KnownOperations().count(item.text), 1u) << item.text;
        continue;
      }
      ASSERT_EQ(item.items.size(), 2u);
      const bool is_path = item.IsList("subpath") || item.IsList("literal");
      EXPECT_TRUE(is_path || item.IsList("target")) << item.items[0].text;
      EXPECT_EQ(item.items[1].kind, is_path ? Form::Kind::kText : Form::Kind::kWord);
    }
  }
}

TEST(SeatbeltProfile, ReadsTheModelAndNothingElseOfPeople) {
  const Profile profile(SomePaths());
  EXPECT_TRUE(profile.Allows("file-read-data", "/Users/ann/models/m.pt"));
  EXPECT_TRUE(profile.Allows("file-read-data", "/opt/mpsd/lib/libtorch_cpu.dylib"));
  EXPECT_TRUE(profile.Allows("file-read-data", "/System/Library/Frameworks/Metal.framework/Metal"));
  for (const char* path : {"/Users/ann/.ssh/id", "/Users/ann/models/n.pt", "/Volumes/disk/a",
                           "/Users/ann/models/m.pt.old", "/private/var/root/a"}) {
    EXPECT_FALSE(profile.Allows("file-read-data", path)) << path;
  }
}

TEST(SeatbeltProfile, CodeIsReadByItsFilesAndLibtorchByItsFolder) {
  const std::vector<std::string> images = {"/Users/ann/mpsd-worker",
                                           "/Users/ann/torch/lib/libtorch_cpu.dylib",
                                           "/Users/ann/torch/lib/libc10.dylib"};
  const Profile profile({CodePaths(images), {}});
  for (const std::string& image : images) EXPECT_TRUE(profile.Allows("file-read-data", image));
  EXPECT_TRUE(profile.Allows("file-read-data", "/Users/ann/torch/lib/libomp.dylib"));
  for (const char* path : {"/Users/ann", "/Users/ann/mail", "/Users/ann/torch/setup.py"}) {
    EXPECT_FALSE(profile.Allows("file-read-data", path)) << path;
  }
}

TEST(SeatbeltProfile, AHomeIsNotOpenedThoughLibtorchLiesThere) {
  for (const std::string folder :
       {"", "/Users", "/Users/ann", "/Volumes/disk", "/private/var/root"}) {
    const std::string libtorch = folder + "/libtorch_cpu.dylib";
    EXPECT_EQ(CodePaths({libtorch}), std::vector<std::string>{libtorch});
  }
  EXPECT_EQ(CodePaths({"/Users/ann/lib/libtorch_cpu.dylib"}).back(), "/Users/ann/lib");
  EXPECT_TRUE(CodePaths({}).empty());
}

TEST(SeatbeltProfile, WritesToItsTemporaryFolderAlone) {
  const Profile profile(SomePaths());
  EXPECT_TRUE(profile.Allows("file-write-create", "/private/var/folders/x/T/mpsd-1/a/b"));
  EXPECT_TRUE(profile.Allows("file-read-data", "/private/var/folders/x/T/mpsd-1/a/b"));
  EXPECT_TRUE(profile.Allows("file-write-data", "/dev/null"));
  for (const char* path : {"/private/var/folders/x/T/mpsd-2", "/private/tmp/a", "/dev/disk0",
                           "/Users/ann/models/m.pt", "/opt/mpsd/lib/libtorch_cpu.dylib"}) {
    for (const char* operation : {"file-write-data", "file-write-create", "file-write-unlink"}) {
      EXPECT_FALSE(profile.Allows(operation, path)) << operation << " " << path;
    }
  }
}

TEST(SeatbeltProfile, DeniesProcessesSignalsAndNetworks) {
  const Profile profile(SomePaths());
  for (const char* operation : {"process-exec", "process-fork", "network-outbound", "network-bind",
                                "system-socket", "mach-priv-task-port", "job-creation"}) {
    EXPECT_FALSE(profile.Allows(operation, "/bin/sh")) << operation;
  }
  EXPECT_FALSE(profile.Allows("signal", "others"));
  EXPECT_TRUE(profile.Allows("signal", "self"));
  EXPECT_TRUE(profile.Allows("iokit-open")) << "the gpu";
  EXPECT_TRUE(profile.Allows("mach-lookup")) << "Metal's compiler";
}

TEST(SeatbeltProfile, APathCannotEndItsRule) {
  SeatbeltPaths paths;
  paths.writable = {R"(/t/a")(allow default)(deny x "\)"};
  const Profile profile(paths);
  EXPECT_TRUE(profile.Allows("file-write-data", paths.writable[0] + "/b"));
  EXPECT_FALSE(profile.Allows("network-outbound"));
}

TEST(SeatbeltProfile, APathWithoutARuleIsRefused) {
  for (const char* path : {"", "relative", "/a\nb", "/a\x7f"}) {
    SeatbeltPaths paths;
    paths.readable = {path};
    EXPECT_TRUE(absl::IsInvalidArgument(SeatbeltProfile(paths).status())) << path;
  }
}

TEST(SeatbeltProfile, WithoutPathsHasNoRuleForThem) {
  const Profile profile({});
  EXPECT_FALSE(profile.Allows("file-write-data", "/private/var/folders/x/T/mpsd-1"));
  EXPECT_THAT(*SeatbeltProfile({}), testing::Not(HasSubstr("subpath \"\"")));
}

}  // namespace
}  // namespace mpsd
