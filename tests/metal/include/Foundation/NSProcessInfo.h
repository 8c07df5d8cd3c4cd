// A part of Foundation that libtorch names by itself.
#pragma once

#include <Foundation/Foundation.h>
