// The power assertion of IOKit, looked up at run time, so that mpsd links no framework. Not yet run
// on a Mac.
#include <dlfcn.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "server/keep_awake.h"

namespace mpsd {
namespace {

constexpr char kIoKit[] = "/System/Library/Frameworks/IOKit.framework/IOKit";
constexpr char kCoreFoundation[] =
    "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
constexpr uint32_t kUtf8 = 0x08000100;  // kCFStringEncodingUTF8
constexpr uint32_t kAssertionOn = 255;  // kIOPMAssertionLevelOn
constexpr char kType[] = "PreventUserIdleSystemSleep";

// Under their exported names.
struct PowerFunctions {
  const void* (*make_string)(const void* allocator, const char* text, uint32_t encoding) = nullptr;
  void (*release_string)(const void* string) = nullptr;
  int (*create)(const void* type, uint32_t level, const void* name, uint32_t* id) = nullptr;
  int (*release)(uint32_t id) = nullptr;

  bool complete() const {
    return make_string != nullptr && release_string != nullptr && create != nullptr &&
           release != nullptr;
  }
};

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  if (library != nullptr) *function = reinterpret_cast<Function>(dlsym(library, name));
}

// The libraries stay loaded.
PowerFunctions FindFunctions() {
  PowerFunctions functions;
  void* const strings = dlopen(kCoreFoundation, RTLD_LAZY);
  void* const power = dlopen(kIoKit, RTLD_LAZY);
  Find(strings, "CFStringCreateWithCString", &functions.make_string);
  Find(strings, "CFRelease", &functions.release_string);
  Find(power, "IOPMAssertionCreateWithName", &functions.create);
  Find(power, "IOPMAssertionRelease", &functions.release);
  return functions;
}

class PowerAssertion final : public AwakeAssertion {
 public:
  absl::Status Take() override {
    if (!functions_.complete()) return absl::UnimplementedError("IOKit lacks power assertions");
    const void* const type = functions_.make_string(nullptr, kType, kUtf8);
    const void* const name = functions_.make_string(nullptr, "mpsd serves requests", kUtf8);
    const int error = functions_.create(type, kAssertionOn, name, &id_);
    functions_.release_string(type);
    functions_.release_string(name);
    if (error == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("IOPMAssertionCreateWithName returned ", error));
  }

  void GiveBack() override { functions_.release(id_); }

 private:
  const PowerFunctions functions_ = FindFunctions();
  uint32_t id_ = 0;
};

}  // namespace

std::unique_ptr<AwakeAssertion> AwakeAssertion::OfHost() {
  return std::make_unique<PowerAssertion>();
}

}  // namespace mpsd
