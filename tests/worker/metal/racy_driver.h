// RacyDriver: a gpu driver of Objective-C classes that must not be entered by two threads at once.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "proto/base/check.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// Counts its encoders as a driver keeps its lists: it reads, is interrupted, and writes. A count
// that is written by two threads at a time loses one. The members are atomic so that only counts
// are lost, and a sanitizer sees no race of its own.
struct RacyDriver {
  std::atomic<int64_t> begun{0};
  std::atomic<int64_t> ended{0};
  std::atomic<int> inside{0};
  std::atomic<int> most_inside{0};
  std::atomic<int> meeting{0};  // so many threads wait for each other in the middle; 0: none does
  std::atomic<const void*> argument{nullptr};  // the last encoder's that had one

  static RacyDriver& Of() {
    static RacyDriver driver;
    return driver;
  }

  void Reset() {
    for (auto* count : {&begun, &ended}) *count = 0;
    for (auto* count : {&inside, &most_inside, &meeting, &left_}) *count = 0;
    argument = nullptr;
  }

  void Count(std::atomic<int64_t>* count) {
    const int64_t seen = count->load();  // before the others go on: they all see the same
    const int now = ++inside;
    if (now > most_inside) most_inside = now;
    if (meeting > 0) {
      while (inside < meeting) std::this_thread::yield();
    }
    for (int i = 0; i < 3; ++i) std::this_thread::yield();
    *count = seen + 1;
    if (meeting > 0) {
      ++left_;
      while (left_ < meeting) std::this_thread::yield();
    }
    --inside;
  }

 private:
  std::atomic<int> left_{0};
};

// The name of Objective-C's runtime on this host.
inline const char* RuntimeLibrary() {
  for (const char* name : {"libobjc.so.4", "/usr/lib/libobjc.A.dylib"}) {
    if (dlopen(name, RTLD_LAZY) != nullptr) return name;
  }
  return "";
}

// Makes classes, in the way that a compiler for Objective-C would have the runtime make them. One a
// process and class: the runtime never forgets a class. Thread-compatible.
class ClassMaker {
 public:
  using Object = ObjectiveC::Object;
  using Class = ObjectiveC::Class;

  // `parent` null: the root class that this host's runtime has.
  ClassMaker(const ObjectiveC& runtime, const char* name, Class parent = nullptr)
      : runtime_(runtime), library_(dlopen(RuntimeLibrary(), RTLD_LAZY)) {
    if (parent == nullptr) parent = runtime.FindClass("Object");
    if (parent == nullptr) parent = runtime.FindClass("NSObject");
    made_ = Find<Class(Class, const char*, size_t)>("objc_allocateClassPair")(parent, name, 0);
    MPSD_CHECK(made_ != nullptr);
  }

  template <typename Method>
  ClassMaker& Add(const char* selector, Method method, const char* types = "@16@0:8") {
    const bool added =
        Find<signed char(Class, const void*, ObjectiveC::Code, const char*)>("class_addMethod")(
            made_, runtime_.Named(selector), reinterpret_cast<ObjectiveC::Code>(method), types);
    MPSD_CHECK(added);
    return *this;
  }

  Class Make() {
    Find<void(Class)>("objc_registerClassPair")(made_);
    return made_;
  }

  Object MakeObject() { return Find<Object(Class, size_t)>("class_createInstance")(Make(), 0); }

 private:
  template <typename Signature>
  Signature* Find(const char* name) const {
    auto* const found = reinterpret_cast<Signature*>(dlsym(library_, name));
    MPSD_CHECK(found != nullptr);
    return found;
  }

  const ObjectiveC& runtime_;
  void* const library_;
  Class made_ = nullptr;
};

// The classes of such a driver: the device makes a queue, which makes a buffer, which makes
// encoders. Each of these objects is there once: the methods count, and nothing else.
struct RacyClasses {
  ObjectiveC::Object device = nullptr;
  ObjectiveC::Object queue = nullptr;
  ObjectiveC::Object buffer = nullptr;
  ObjectiveC::Object encoder = nullptr;

  static RacyClasses& Of(const ObjectiveC& runtime) {
    static RacyClasses classes = Make(runtime);
    return classes;
  }

 private:
  using Object = ObjectiveC::Object;
  using Selector = ObjectiveC::Selector;

  static RacyClasses* Made() {
    static RacyClasses made;
    return &made;
  }

  static Object NewQueue(Object, Selector) { return Made()->queue; }
  static Object Buffer(Object, Selector) { return Made()->buffer; }
  static Object Begin(Object, Selector) {
    RacyDriver::Of().Count(&RacyDriver::Of().begun);
    return Made()->encoder;
  }
  static Object BeginWith(Object, Selector, void* descriptor) {
    RacyDriver::Of().argument = descriptor;
    return Begin(nullptr, nullptr);
  }
  static void End(Object, Selector) { RacyDriver::Of().Count(&RacyDriver::Of().ended); }

  static RacyClasses Make(const ObjectiveC& runtime) {
    RacyClasses& made = *Made();
    made.device = ClassMaker(runtime, "RacyDevice").Add("newCommandQueue", &NewQueue).MakeObject();
    made.queue = ClassMaker(runtime, "RacyQueue").Add("commandBuffer", &Buffer).MakeObject();
    made.buffer = ClassMaker(runtime, "RacyBuffer")
                      .Add("computeCommandEncoder", &Begin)
                      .Add("computeCommandEncoderWithDescriptor:", &BeginWith, "@24@0:8@16")
                      .Add("blitCommandEncoder", &Begin)
                      .MakeObject();
    made.encoder = ClassMaker(runtime, "RacyEncoder")
                       .Add("endEncoding", &End, "v16@0:8")
                       .Add("destroyImpl", &End, "v16@0:8")
                       .MakeObject();
    return made;
  }
};

}  // namespace mpsd
