// ObjectiveC: the few functions of an Objective-C runtime that look at classes and replace methods.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mpsd {

// Looked up at run time in the named library, so that the worker needs neither a compiler for
// Objective-C nor a runtime where there is none. Only functions that both Apple's and GNU's runtime
// export under one name are used, so tests on Linux run the same code as a Mac.
//
// A value: pointers into a library that stays loaded. Thread-safe. If a method is replaced while
// another thread sends it, that thread runs either the old or the new code.
class ObjectiveC {
 public:
  using Object = void*;
  using Class = void*;
  using Selector = const void*;
  using Code = void (*)();  // a method's; called with receiver, selector, arguments

  // FAILED_PRECONDITION names the library that cannot be loaded, or its missing function.
  static absl::StatusOr<ObjectiveC> Load(const char* library);

  Selector Named(const char* name) const { return functions_.register_selector(name); }

  // Null if no class has the name.
  Class FindClass(const char* name) const { return functions_.get_class(name); }

  // The class of an object. REQUIRES: the object is not null.
  Class ClassOf(Object object) const;
  const char* NameOf(Class owner) const { return functions_.class_name(owner); }

  // Whether instances of the class have the method, their own or an inherited one.
  bool Has(Class owner, Selector selector) const;

  // The code that an instance runs for this message. REQUIRES: Has().
  Code CodeOf(Class owner, Selector selector) const;

  // Makes instances of the class run `code` for this message from now on. An inherited method is
  // not changed in its own class: this class gets its own method, and related classes keep theirs.
  // REQUIRES: Has(); `code` takes and returns what the method does.
  void Replace(Class owner, Selector selector, Code code) const;

  // Sends a message without arguments, whose answer is an object or nothing. Returns null if the
  // receiver is null or has no such method.
  Object Send(Object receiver, const char* name) const;

 private:
  friend class AutoreleasePool;

  using Method = void*;
  // Named as both runtimes export them; only Apple's has the two functions of the pool.
  struct Functions {
    Selector (*register_selector)(const char* name) = nullptr;
    Class (*get_class)(const char* name) = nullptr;
    const char* (*object_class_name)(Object object) = nullptr;
    const char* (*class_name)(Class owner) = nullptr;
    Method (*instance_method)(Class owner, Selector selector) = nullptr;
    Class (*superclass)(Class owner) = nullptr;
    Code (*implementation)(Class owner, Selector selector) = nullptr;
    Code (*set_implementation)(Method method, Code code) = nullptr;
    const char* (*type_encoding)(Method method) = nullptr;
    signed char (*add_method)(Class owner, Selector selector, Code code,
                              const char* types) = nullptr;
    void* (*push_pool)() = nullptr;
    void (*pop_pool)(void* pool) = nullptr;
  };

  explicit ObjectiveC(const Functions& functions) : functions_(functions) {}

  Functions functions_;
};

// Keeps objects that methods return without giving them away alive until the pool ends. A runtime
// without pools has no such objects either. Lives on the thread that made it; pools end in reverse
// order.
class AutoreleasePool {
 public:
  explicit AutoreleasePool(const ObjectiveC& runtime);
  AutoreleasePool(const AutoreleasePool&) = delete;
  AutoreleasePool& operator=(const AutoreleasePool&) = delete;
  ~AutoreleasePool();

 private:
  const ObjectiveC runtime_;
  void* pool_ = nullptr;
};

}  // namespace mpsd
