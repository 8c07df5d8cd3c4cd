// A part of Foundation that the stand-in's other files use.
#pragma once

#import <Foundation/Foundation.h>

#include <memory>

// A reference to an object for C++, given up with the last copy of the result.
std::shared_ptr<void> Retained(id object);
