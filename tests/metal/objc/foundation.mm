// Foundation's objects: references are counted, and a released object is remembered.
#include "tests/metal/objc/foundation.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/metal/rules/autorelease_pools.h"
#include "tests/metal/rules/released_objects.h"

using mpsd::standin::AutoreleasePools;
using mpsd::standin::ReleasedObjects;

// The class of an object that was released. It has no methods, so each message is forwarded.
__attribute__((objc_root_class)) @interface StandinReleased {
  Class isa;
}
@end
@implementation StandinReleased
@end

namespace {

// Runs in place of a method that the receiver does not have.
id Forward(id receiver, SEL message, ...) {
  if (ReleasedObjects::All().Received(receiver, sel_getName(message))) return nil;
  throw std::runtime_error(std::string("the stand-in of Metal has no ") +
                           object_getClassName(receiver) + " " + sel_getName(message));
}

__attribute__((constructor)) void ForwardMessages() {
  objc_setForwardHandler(reinterpret_cast<IMP>(&Forward), reinterpret_cast<IMP>(&Forward));
}

void Release(void* object) { [(id)object release]; }

}  // namespace

std::shared_ptr<void> Retained(id object) {
  return std::shared_ptr<void>([object retain], &Release);
}

extern "C" void* objc_autoreleasePoolPush() { return AutoreleasePools::OfThread().Push(); }
extern "C" void objc_autoreleasePoolPop(void* pool) {
  AutoreleasePools::OfThread().Pop(pool, &Release);
}

@implementation NSObject
+ (instancetype)alloc {
  NSObject* const object =
      objc_constructInstance(self, std::calloc(1, class_getInstanceSize(self)));
  object->_references = 1;
  return object;
}
+ (instancetype)new {
  return [[self alloc] init];
}
+ (Class)class {
  return self;
}
+ (BOOL)instancesRespondToSelector:(SEL)selector {
  return class_respondsToSelector(self, selector);
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  const std::string name = object_getClassName(self);
  objc_destructInstance(self);
  object_setClass(self, objc_getClass("StandinReleased"));
  ReleasedObjects::All().Add(self, name);
}
- (id)copy {
  return [self retain];
}
- (instancetype)retain {
  __atomic_fetch_add(&_references, 1, __ATOMIC_RELAXED);
  return self;
}
- (oneway void)release {
  if (__atomic_sub_fetch(&_references, 1, __ATOMIC_ACQ_REL) == 0) [self dealloc];
}
- (instancetype)autorelease {
  AutoreleasePools::OfThread().Add(self);
  return self;
}
- (NSUInteger)retainCount {
  return static_cast<NSUInteger>(__atomic_load_n(&_references, __ATOMIC_ACQUIRE));
}
- (Class)class {
  return object_getClass(self);
}
- (BOOL)isEqual:(id)other {
  return self == other;
}
- (NSUInteger)hash {
  return reinterpret_cast<NSUInteger>(self);
}
- (NSString*)description {
  return [NSString stringWithUTF8String:object_getClassName(self)];
}
- (BOOL)respondsToSelector:(SEL)selector {
  return class_respondsToSelector(object_getClass(self), selector);
}
- (BOOL)isKindOfClass:(Class)owner {
  for (Class type = object_getClass(self); type != nil; type = class_getSuperclass(type)) {
    if (type == owner) return YES;
  }
  return NO;
}
@end

@interface StandinString : NSString {
 @public
  std::string _text;
}
@end

@implementation NSString
+ (instancetype)stringWithUTF8String:(const char*)text {
  StandinString* const string = [[StandinString new] autorelease];
  string->_text = text;
  return string;
}
+ (instancetype)stringWithCString:(const char*)text encoding:(NSUInteger)encoding {
  return [self stringWithUTF8String:text];
}
+ (instancetype)stringWithFormat:(NSString*)format, ... {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format.UTF8String, arguments);
  va_end(arguments);
  return [self stringWithUTF8String:text];
}
- (instancetype)initWithUTF8String:(const char*)text {
  StandinString* const string = [StandinString new];
  string->_text = text;
  return string;
}
- (const char*)UTF8String {
  return "";
}
- (NSUInteger)length {
  return std::string(self.UTF8String).size();
}
- (NSString*)stringByAppendingString:(NSString*)other {
  return [NSString stringWithUTF8String:(std::string(self.UTF8String) + other.UTF8String).c_str()];
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSString class]] &&
         std::string(self.UTF8String) == [(NSString*)other UTF8String];
}
- (NSUInteger)hash {
  return std::hash<std::string>()(self.UTF8String);
}
@end

@implementation StandinString
- (const char*)UTF8String {
  return _text.c_str();
}
@end

// A text of the source. The compiler lays it out, without a count of references, and keeps it.
@interface NSConstantString : NSString
@end

namespace {

struct ConstantText {
  Class isa;
  const char* bytes;
  unsigned length;
};

}  // namespace

@implementation NSConstantString
- (const char*)UTF8String {
  return reinterpret_cast<const ConstantText*>(self)->bytes;
}
- (instancetype)retain {
  return self;
}
- (oneway void)release {
}
- (instancetype)autorelease {
  return self;
}
@end

@interface StandinNumber : NSNumber {
 @public
  double _real;
  long long _whole;
}
@end

namespace {

NSNumber* Whole(long long value) {
  StandinNumber* const number = [[StandinNumber new] autorelease];
  number->_whole = value;
  number->_real = static_cast<double>(value);
  return number;
}

NSNumber* Real(double value) {
  StandinNumber* const number = [[StandinNumber new] autorelease];
  number->_whole = static_cast<long long>(value);
  number->_real = value;
  return number;
}

}  // namespace

@implementation NSNumber
@dynamic intValue, integerValue, unsignedIntegerValue, longValue, unsignedLongValue;
@dynamic longLongValue, doubleValue;
+ (NSNumber*)numberWithBool:(BOOL)value {
  return Whole(value);
}
+ (NSNumber*)numberWithChar:(char)value {
  return Whole(value);
}
+ (NSNumber*)numberWithInt:(int)value {
  return Whole(value);
}
+ (NSNumber*)numberWithUnsignedInt:(unsigned)value {
  return Whole(value);
}
+ (NSNumber*)numberWithInteger:(NSInteger)value {
  return Whole(value);
}
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value {
  return Whole(static_cast<long long>(value));
}
+ (NSNumber*)numberWithLong:(long)value {
  return Whole(value);
}
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value {
  return Whole(static_cast<long long>(value));
}
+ (NSNumber*)numberWithLongLong:(long long)value {
  return Whole(value);
}
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value {
  return Whole(static_cast<long long>(value));
}
+ (NSNumber*)numberWithFloat:(float)value {
  return Real(value);
}
+ (NSNumber*)numberWithDouble:(double)value {
  return Real(value);
}
@end

@implementation StandinNumber
- (int)intValue {
  return static_cast<int>(_whole);
}
- (NSInteger)integerValue {
  return _whole;
}
- (NSUInteger)unsignedIntegerValue {
  return static_cast<NSUInteger>(_whole);
}
- (long)longValue {
  return _whole;
}
- (unsigned long)unsignedLongValue {
  return static_cast<unsigned long>(_whole);
}
- (long long)longLongValue {
  return _whole;
}
- (double)doubleValue {
  return _real;
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSNumber class]] && [(NSNumber*)other doubleValue] == _real;
}
- (NSUInteger)hash {
  return static_cast<NSUInteger>(_whole);
}
- (NSString*)description {
  return [NSString stringWithUTF8String:std::to_string(_whole).c_str()];
}
@end

@implementation NSError
- (NSString*)localizedDescription {
  return @"the stand-in of Metal compiles no shaders";
}
- (NSInteger)code {
  return 1;
}
@end

@implementation NSURL
+ (NSURL*)fileURLWithPath:(NSString*)path {
  return [[NSURL new] autorelease];
}
@end

@implementation NSProcessInfo
+ (NSProcessInfo*)processInfo {
  return [[NSProcessInfo new] autorelease];
}
// From macOS 15 on libtorch hands strides to the framework; before, it needs shaders for them.
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version {
  return version.majorVersion < 15 || (version.majorVersion == 15 && version.minorVersion == 0);
}
@end

Class NSClassFromString(NSString* name) { return objc_getClass(name.UTF8String); }

void NSLog(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format.UTF8String, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
}
