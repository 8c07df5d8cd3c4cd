// The functions of an Objective-C runtime that the stand-in uses. ObjFW's runtime has all of them.
#pragma once

#include <cstddef>
#include <cstdint>

typedef signed char BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil nullptr

typedef id (*IMP)(id, SEL, ...);
typedef struct objc_method* Method;

extern "C" {
id objc_constructInstance(Class owner, void* memory);
void* objc_destructInstance(id object);
size_t class_getInstanceSize(Class owner);
const char* class_getName(Class owner);
Class class_getSuperclass(Class owner);
BOOL class_respondsToSelector(Class owner, SEL selector);
BOOL class_isMetaClass(Class owner);
Method class_getInstanceMethod(Class owner, SEL selector);
IMP class_replaceMethod(Class owner, SEL selector, IMP code, const char* types);
const char* method_getTypeEncoding(Method method);
SEL method_getName(Method method);
Class objc_getClass(const char* name);
Class object_getClass(id object);
Class object_setClass(id object, Class owner);
const char* object_getClassName(id object);
const char* sel_getName(SEL selector);
SEL sel_registerName(const char* name);
void objc_setForwardHandler(IMP forward, IMP forward_struct);
}
