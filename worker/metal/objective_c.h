// ObjectiveC: the few functions of an Objective-C runtime that look at classes and replace methods.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mpsd {

// Looked up at run time in the library that is named, so that the worker needs neither a compiler
// for Objective-C nor a runtime where there is none. Only functions that Apple's runtime and GNU's
// both export under one name are used: the tests run the same code on Linux that runs on a Mac.
//
// A value: pointers into a library that stays loaded. Thread-safe, but a method that is replaced
// while another thread sends it runs as it was or as it is, whichever comes first.
class ObjectiveC {
 public:
  using Object = void*;
  using Class = void*;
  using Selector = const void*;
  using Code = void (*)();  // of a method; called with the receiver, the selector, the arguments

  // FAILED_PRECONDITION names the library that cannot be loaded, or the function that it lacks.
  static absl::StatusOr<ObjectiveC> Load(const char* library);

  Selector Named(const char* name) const { return functions_.register_selector(name); }

  // Null where no class has the name.
  Class FindClass(const char* name) const { return functions_.get_class(name); }

  // The class of an object. REQUIRES: the object is not null.
  Class ClassOf(Object object) const;
  const char* NameOf(Class owner) const { return functions_.class_name(owner); }

  // Whether instances of the class have the method, their own or an inherited one.
  bool Has(Class owner, Selector selector) const;

  // What an instance runs for this message. REQUIRES: Has().
  Code CodeOf(Class owner, Selector selector) const;

  // From now on instances of the class run `code` for this message. A method that the class
  // inherits is not changed where it stands: the class gets one of its own, and its relatives keep
  // theirs. REQUIRES: Has(); `code` takes and returns what the method does.
  void Replace(Class owner, Selector selector, Code code) const;

  // Sends a message without arguments, whose answer is an object or nothing. Null to a null
  // receiver and from one that has no such method.
  Object Send(Object receiver, const char* name) const;

 private:
  friend class AutoreleasePool;

  using Method = void*;
  // Under the names that both runtimes export them by; the pool's two are Apple's alone.
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

// Objects that methods return without giving them away live until the pool ends. Where the runtime
// has no pools there are no such objects either. Lives on the thread that made it; pools end in the
// reverse order.
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
