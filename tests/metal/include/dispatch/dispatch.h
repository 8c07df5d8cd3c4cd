// libdispatch, as far as libtorch's mps backend uses it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
typedef struct dispatch_queue_s* dispatch_queue_t;
typedef struct dispatch_data_s* dispatch_data_t;
typedef long dispatch_once_t;
typedef void (*dispatch_function_t)(void*);

#define DISPATCH_QUEUE_SERIAL NULL
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL

dispatch_queue_t dispatch_queue_create(const char* label, void* attributes);
dispatch_queue_t dispatch_get_main_queue(void);
void dispatch_release(void* object);
void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value,
                                 dispatch_function_t destructor);
void* dispatch_get_specific(const void* key);
void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
dispatch_data_t dispatch_data_create(const void* bytes, size_t length, dispatch_queue_t queue,
                                     void* destructor);
#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);
#endif
}
