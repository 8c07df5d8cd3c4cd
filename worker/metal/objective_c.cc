#include "worker/metal/objective_c.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

class Lookup {
 public:
  explicit Lookup(void* library) : library_(library) {}

  template <typename Function>
  Lookup& Need(const char* name, Function* function) {
    Take(name, function);
    if (*function == nullptr && missing_ == nullptr) missing_ = name;
    return *this;
  }

  template <typename Function>
  Lookup& Take(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library_, name));
    return *this;
  }

  const char* missing() const { return missing_; }

 private:
  void* const library_;
  const char* missing_ = nullptr;
};

}  // namespace

absl::StatusOr<ObjectiveC> ObjectiveC::Load(const char* library) {
  void* const loaded = dlopen(library, RTLD_LAZY);
  if (loaded == nullptr) return absl::FailedPreconditionError(dlerror());
  Functions functions;
  Lookup lookup(loaded);
  lookup.Need("sel_registerName", &functions.register_selector)
      .Need("objc_getClass", &functions.get_class)
      .Need("object_getClassName", &functions.object_class_name)
      .Need("class_getName", &functions.class_name)
      .Need("class_getInstanceMethod", &functions.instance_method)
      .Need("class_getSuperclass", &functions.superclass)
      .Need("class_getMethodImplementation", &functions.implementation)
      .Need("method_setImplementation", &functions.set_implementation)
      .Need("method_getTypeEncoding", &functions.type_encoding)
      .Need("class_addMethod", &functions.add_method)
      .Take("objc_autoreleasePoolPush", &functions.push_pool)
      .Take("objc_autoreleasePoolPop", &functions.pop_pool);
  if (lookup.missing() == nullptr) return ObjectiveC(functions);
  return absl::FailedPreconditionError(absl::StrCat(library, " lacks ", lookup.missing()));
}

// GNU's runtime exports no function for an object's class.
ObjectiveC::Class ObjectiveC::ClassOf(Object object) const {
  MPSD_CHECK(object != nullptr);
  return FindClass(functions_.object_class_name(object));
}

bool ObjectiveC::Has(Class owner, Selector selector) const {
  return functions_.instance_method(owner, selector) != nullptr;
}

ObjectiveC::Code ObjectiveC::CodeOf(Class owner, Selector selector) const {
  MPSD_CHECK(Has(owner, selector));
  return functions_.implementation(owner, selector);
}

void ObjectiveC::Replace(Class owner, Selector selector, Code code) const {
  const Method method = functions_.instance_method(owner, selector);
  MPSD_CHECK(method != nullptr);
  const Class parent = functions_.superclass(owner);
  const bool is_inherited =
      parent != nullptr && functions_.instance_method(parent, selector) == method;
  if (is_inherited) {
    functions_.add_method(owner, selector, code, functions_.type_encoding(method));
  } else {
    functions_.set_implementation(method, code);
  }
}

ObjectiveC::Object ObjectiveC::Send(Object receiver, const char* name) const {
  if (receiver == nullptr) return nullptr;
  const Class owner = ClassOf(receiver);
  const Selector selector = Named(name);
  if (!Has(owner, selector)) return nullptr;
  return reinterpret_cast<Object (*)(Object, Selector)>(CodeOf(owner, selector))(receiver,
                                                                                 selector);
}

AutoreleasePool::AutoreleasePool(const ObjectiveC& runtime) : runtime_(runtime) {
  if (runtime_.functions_.push_pool != nullptr) pool_ = runtime_.functions_.push_pool();
}

AutoreleasePool::~AutoreleasePool() {
  if (runtime_.functions_.pop_pool != nullptr) runtime_.functions_.pop_pool(pool_);
}

}  // namespace mpsd
