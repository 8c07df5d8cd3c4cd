// Foundation, as far as libtorch's mps backend uses it.
#pragma once

#include <assert.h>
#include <dispatch/dispatch.h>
#include <mach/vm_page_size.h>
#include <math.h>
#include <objc/objc.h>
#include <stdarg.h>
#include <string.h>

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef double CFTimeInterval;

#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#define API_AVAILABLE(...)
#define MPS_SWIFT_NAME(...)
#define NS_REFINED_FOR_SWIFT
#define NS_RETURNS_RETAINED

typedef struct {
  NSUInteger location;
  NSUInteger length;
} NSRange;

static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  return (NSRange){location, length};
}

typedef struct {
  NSInteger majorVersion;
  NSInteger minorVersion;
  NSInteger patchVersion;
} NSOperatingSystemVersion;

typedef struct {
  unsigned long state;
  __unsafe_unretained id* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

enum { NSASCIIStringEncoding = 1, NSUTF8StringEncoding = 4 };

typedef struct _NSZone NSZone;

@class NSString, NSArray, NSDictionary;

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (Class)class;
- (BOOL)isEqual:(id)other;
- (NSUInteger)hash;
- (NSString*)description;
- (BOOL)respondsToSelector:(SEL)selector;
- (BOOL)isKindOfClass:(Class)owner;
@end

@protocol NSCopying
@end

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id*)objects
                                    count:(NSUInteger)count;
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject> {
  Class isa;
  NSInteger _references;  // atomic
}
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
@end

@interface NSString : NSObject <NSCopying>
@property(readonly) const char* UTF8String;
@property(readonly) NSUInteger length;
+ (instancetype)stringWithUTF8String:(const char*)text;
+ (instancetype)stringWithCString:(const char*)text encoding:(NSUInteger)encoding;
+ (instancetype)stringWithFormat:(NSString*)format, ...;
- (instancetype)initWithUTF8String:(const char*)text;
- (NSString*)stringByAppendingString:(NSString*)other;
@end

@interface NSNumber : NSObject <NSCopying>
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) NSUInteger unsignedIntegerValue;
@property(readonly) long longValue;
@property(readonly) unsigned long unsignedLongValue;
@property(readonly) long long longLongValue;
@property(readonly) double doubleValue;
+ (NSNumber*)numberWithBool:(BOOL)value;
+ (NSNumber*)numberWithChar:(char)value;
+ (NSNumber*)numberWithInt:(int)value;
+ (NSNumber*)numberWithUnsignedInt:(unsigned)value;
+ (NSNumber*)numberWithInteger:(NSInteger)value;
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value;
+ (NSNumber*)numberWithLong:(long)value;
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value;
+ (NSNumber*)numberWithLongLong:(long long)value;
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value;
+ (NSNumber*)numberWithFloat:(float)value;
+ (NSNumber*)numberWithDouble:(double)value;
@end

@interface NSArray<T> : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
+ (instancetype)array;
+ (instancetype)arrayWithObject:(id)object;
+ (instancetype)arrayWithObjects:(const id*)objects count:(NSUInteger)count;
+ (instancetype)arrayWithArray:(NSArray*)other;
- (T)objectAtIndex:(NSUInteger)index;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
- (T)lastObject;
- (NSString*)componentsJoinedByString:(NSString*)separator;
- (id)valueForKey:(NSString*)key;
@end

@interface NSMutableArray<T> : NSArray
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
- (void)addObject:(T)object;
- (void)insertObject:(T)object atIndex:(NSUInteger)index;
- (void)setObject:(T)object atIndexedSubscript:(NSUInteger)index;
- (void)removeObjectAtIndex:(NSUInteger)index;
@end

@interface NSDictionary<K, V> : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObjects:(const id*)objects
                              forKeys:(const id*)keys
                                count:(NSUInteger)count;
- (V)objectForKey:(K)key;
- (V)objectForKeyedSubscript:(K)key;
- (NSArray*)allKeys;
- (NSArray*)allValues;
@end

@interface NSMutableDictionary<K, V> : NSDictionary
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (V)objectForKeyedSubscript:(K)key;
- (void)setObject:(V)object forKey:(K)key;
- (void)setObject:(V)object forKeyedSubscript:(K)key;
@end

@interface NSError : NSObject
@property(readonly) NSString* localizedDescription;
@property(readonly) NSInteger code;
@end

@interface NSURL : NSObject
+ (NSURL*)fileURLWithPath:(NSString*)path;
@end

@interface NSData : NSObject
@property(readonly) const void* bytes;
@property(readonly) NSUInteger length;
+ (NSData*)dataWithBytes:(const void*)bytes length:(NSUInteger)length;
+ (NSData*)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)frees;
@end

@interface NSProcessInfo : NSObject
+ (NSProcessInfo*)processInfo;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end

extern "C" {
Class NSClassFromString(NSString* name);
void NSLog(NSString* format, ...);
}
