// libtorch's own library of shaders is a section of its binary on a Mac. There is none here.
#pragma once

#include <cstddef>
#include <cstdint>

struct mach_header {
  uint32_t magic;
};
struct mach_header_64 {
  uint32_t magic;
};

static inline uint8_t* getsectiondata(const struct mach_header_64* header, const char* segment,
                                      const char* section, unsigned long* size) {
  return NULL;
}
