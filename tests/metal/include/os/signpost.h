// Apple's signposts: nobody looks at them here.
#pragma once

#include <os/log.h>

#include <cstdint>

typedef uint64_t os_signpost_id_t;
typedef unsigned char os_signpost_type_t;

#define OS_SIGNPOST_EVENT 0
#define OS_SIGNPOST_INTERVAL_BEGIN 1
#define OS_SIGNPOST_INTERVAL_END 2
#define os_signpost_enabled(log) ((log) != NULL)
#define os_signpost_id_make_with_pointer(log, pointer) ((os_signpost_id_t)(uintptr_t)(pointer))
#define os_signpost_id_generate(log) ((os_signpost_id_t)1)
#define os_signpost_event_emit(...) ((void)0)
#define os_signpost_interval_begin(...) ((void)0)
#define os_signpost_interval_end(...) ((void)0)
