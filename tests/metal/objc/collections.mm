// Foundation's arrays and dictionaries. They keep their objects.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/metal/objc/foundation.h"

namespace {

using Objects = std::vector<id>;

// The loop of `for (x in array)`: all objects at once.
NSUInteger Enumerate(Objects& objects, NSFastEnumerationState* state) {
  if (state->state != 0) return 0;
  state->state = 1;
  state->itemsPtr = objects.data();
  state->mutationsPtr = &state->extra[0];
  return objects.size();
}

NSArray* ArrayOf(const Objects& objects) {
  return [NSArray arrayWithObjects:objects.data() count:objects.size()];
}

}  // namespace

// The storage is not in the class's header, which C includes too.
@interface NSArray () {
 @public
  Objects _objects;
}
@end

@implementation NSArray
+ (instancetype)array {
  return [[self new] autorelease];
}
+ (instancetype)arrayWithObject:(id)object {
  return [self arrayWithObjects:&object count:1];
}
+ (instancetype)arrayWithObjects:(const id*)objects count:(NSUInteger)count {
  NSArray* const array = [[self new] autorelease];
  for (NSUInteger i = 0; i < count; ++i) array->_objects.push_back([objects[i] retain]);
  return array;
}
+ (instancetype)arrayWithArray:(NSArray*)other {
  return [self arrayWithObjects:other->_objects.data() count:other->_objects.size()];
}
- (NSUInteger)count {
  return _objects.size();
}
- (id)objectAtIndex:(NSUInteger)index {
  return _objects.at(index);
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return _objects.at(index);
}
- (id)lastObject {
  return _objects.empty() ? nil : _objects.back();
}
- (NSString*)componentsJoinedByString:(NSString*)separator {
  std::string text;
  for (id object : _objects) {
    if (!text.empty()) text += separator.UTF8String;
    text += [object description].UTF8String;
  }
  return [NSString stringWithUTF8String:text.c_str()];
}
// Only the names of objects are asked for, to be shown.
- (id)valueForKey:(NSString*)key {
  return self;
}
// The copy of an array that may still grow must not grow with it.
- (id)copy {
  return [[NSArray arrayWithArray:self] retain];
}
- (BOOL)isEqual:(id)other {
  if (![other isKindOfClass:[NSArray class]]) return NO;
  return std::equal(_objects.begin(), _objects.end(), ((NSArray*)other)->_objects.begin(),
                    ((NSArray*)other)->_objects.end(),
                    [](id left, id right) { return [left isEqual:right]; });
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id*)objects
                                    count:(NSUInteger)count {
  return Enumerate(_objects, state);
}
- (void)dealloc {
  for (id object : _objects) [object release];
  [super dealloc];
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity {
  return [[self new] autorelease];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
  return self;
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return _objects.at(index);
}
- (void)addObject:(id)object {
  _objects.push_back([object retain]);
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
  _objects.insert(_objects.begin() + static_cast<NSInteger>(index), [object retain]);
}
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index {
  if (index == _objects.size()) return [self addObject:object];
  [std::exchange(_objects.at(index), [object retain]) release];
}
- (void)removeObjectAtIndex:(NSUInteger)index {
  [_objects.at(index) release];
  _objects.erase(_objects.begin() + static_cast<NSInteger>(index));
}
@end

@interface NSDictionary () {
 @public
  Objects _keys;  // _values[i] belongs to _keys[i]
  Objects _values;
}
@end

@implementation NSDictionary
+ (instancetype)dictionary {
  return [[self new] autorelease];
}
+ (instancetype)dictionaryWithObjects:(const id*)objects
                              forKeys:(const id*)keys
                                count:(NSUInteger)count {
  NSDictionary* const dictionary = [[self new] autorelease];
  for (NSUInteger i = 0; i < count; ++i) {
    dictionary->_keys.push_back([keys[i] retain]);
    dictionary->_values.push_back([objects[i] retain]);
  }
  return dictionary;
}
- (NSUInteger)count {
  return _keys.size();
}
- (size_t)indexOfKey:(id)key {
  const auto is_key = [key](id other) { return other == key || [other isEqual:key]; };
  return std::find_if(_keys.begin(), _keys.end(), is_key) - _keys.begin();
}
- (id)objectForKey:(id)key {
  const size_t index = [self indexOfKey:key];
  return index == _keys.size() ? nil : _values[index];
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (NSArray*)allKeys {
  return ArrayOf(_keys);
}
- (NSArray*)allValues {
  return ArrayOf(_values);
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id*)objects
                                    count:(NSUInteger)count {
  return Enumerate(_keys, state);
}
- (void)dealloc {
  for (id key : _keys) [key release];
  for (id value : _values) [value release];
  [super dealloc];
}
@end

@implementation NSMutableDictionary
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity {
  return [[self new] autorelease];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
  return self;
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (void)setObject:(id)object forKey:(id)key {
  const size_t index = [self indexOfKey:key];
  if (index < _keys.size()) {
    [std::exchange(_values[index], [object retain]) release];
    return;
  }
  _keys.push_back([key retain]);
  _values.push_back([object retain]);
}
- (void)setObject:(id)object forKeyedSubscript:(id)key {
  [self setObject:object forKey:key];
}
@end

@interface NSData () {
  std::vector<char> _copy;
}
@end

@implementation NSData
+ (NSData*)dataWithBytes:(const void*)bytes length:(NSUInteger)length {
  NSData* const data = [[NSData new] autorelease];
  data->_copy.assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + length);
  return data;
}
+ (NSData*)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)frees {
  return [self dataWithBytes:bytes length:length];
}
- (const void*)bytes {
  return _copy.data();
}
- (NSUInteger)length {
  return _copy.size();
}
@end
