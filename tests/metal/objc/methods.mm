// A function of Apple's runtime that ObjFW's lacks: it knows a method's class.
#include "tests/metal/objc/foundation.h"

namespace {

// The classes that a guard of the driver may look at, a parent before those that inherit from it.
constexpr const char* kDriverClasses[] = {"NSObject", "StandinEncoder", "StandinBlitEncoder",
                                          "StandinComputeEncoder", "StandinCommandBuffer"};

// The class whose own method it is; null for a class that is not listed.
Class OwnerOf(Method method) {
  const SEL selector = method_getName(method);
  for (const char* name : kDriverClasses) {
    Class const owner = objc_getClass(name);
    if (class_getInstanceMethod(owner, selector) == method) return owner;
  }
  return nil;
}

}  // namespace

extern "C" IMP method_setImplementation(Method method, IMP code) {
  return class_replaceMethod(OwnerOf(method), method_getName(method), code,
                             method_getTypeEncoding(method));
}
