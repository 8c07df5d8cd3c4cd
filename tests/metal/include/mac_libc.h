// Names that a Mac's libc has, and headers that its headers include, unlike those of Linux. The
// compiler includes this file before each source of libtorch.
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <future>
#include <iostream>
#include <optional>
#include <set>
#include <stack>
#include <unordered_set>

#ifndef PAGE_SIZE
#define PAGE_SIZE 16384
#endif

static inline int pthread_main_np(void) { return getpid() == (int)syscall(SYS_gettid); }

static inline uint64_t clock_gettime_nsec_np(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// The GNU C library has a macro of this name with arguments. Its headers come first, above.
#undef __nonnull
#define __nonnull _Nonnull
#define __nullable _Nullable
