// The images of a process: none that a section could be read from.
#pragma once

#include <mach-o/getsect.h>

#include <cstdint>

static inline uint32_t _dyld_image_count(void) { return 0; }
static inline const char* _dyld_get_image_name(uint32_t image) { return ""; }
static inline const struct mach_header* _dyld_get_image_header(uint32_t image) { return NULL; }
