// A function of Apple's runtime that ObjFW's lacks: it knows a method's class.
#include <cstdlib>
#include <memory>

#include "tests/metal/objc/foundation.h"

extern "C" Class* objc_copyClassList(unsigned* count);

namespace {

// The class whose own method it is: its parent has no such method, or another one. Null: nobody's.
Class OwnerOf(Method method) {
  unsigned count = 0;
  const std::unique_ptr<Class, void (*)(void*)> classes(objc_copyClassList(&count), &std::free);
  const SEL selector = method_getName(method);
  for (unsigned i = 0; i < count; ++i) {
    Class const owner = classes.get()[i];
    Class const parent = class_getSuperclass(owner);
    if (class_getInstanceMethod(owner, selector) != method) continue;
    if (parent == nil || class_getInstanceMethod(parent, selector) != method) return owner;
  }
  return nil;
}

}  // namespace

extern "C" IMP method_setImplementation(Method method, IMP code) {
  return class_replaceMethod(OwnerOf(method), method_getName(method), code,
                             method_getTypeEncoding(method));
}
