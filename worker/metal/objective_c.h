// ObjectiveC: the functions of an Objective-C runtime that look at classes and replace methods.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mpsd {

// Looked up in the named library, so the worker needs no compiler for Objective-C. Apple's and
// GNU's runtimes export these functions under one name, so tests on Linux run the code of a Mac.
//
// A value: pointers into a library that stays loaded. Thread-safe: while a method is replaced,
// another thread runs either the old or the new code.
class ObjectiveC {
 public:
  using Object = void*;
  using Class = void*;
  using Selector = const void*;
  using Code = void (*)();  // takes receiver, selector, arguments

  // FAILED_PRECONDITION names the library, or its missing function.
  static absl::StatusOr<ObjectiveC> Load(const char* library);

  Selector Named(const char* name) const { return functions_.register_selector(name); }

  // Null if no class has the name.
  Class FindClass(const char* name) const { return functions_.get_class(name); }

  // REQUIRES: the object is not null.
  Class ClassOf(Object object) const;
  const char* NameOf(Class owner) const { return functions_.class_name(owner); }

  // The method may be inherited.
  bool Has(Class owner, Selector selector) const;

  // REQUIRES: Has().
  Code CodeOf(Class owner, Selector selector) const;

  // An inherited method is not changed in its own class: related classes keep theirs. REQUIRES:
  // Has(); `code` takes and returns what the method does.
  void Replace(Class owner, Selector selector, Code code) const;

  // A message without arguments, whose answer is an object or nothing. Null if the receiver is null
  // or has no such method.
  Object Send(Object receiver, const char* name) const;

 private:
  friend class AutoreleasePool;

  using Method = void*;
  // Only Apple's runtime has the pool.
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

// Keeps objects alive that methods return without giving them away. Lives on the thread that made
// it; pools end in reverse order.
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
