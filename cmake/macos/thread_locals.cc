// The one thread-local name of the front end's libraries. It cannot stay open as others do: a
// linker has to be told that a name is thread-local. On a Mac libprotobuf.dylib tells.
__thread char thread_cache_of_protobuf asm(
    "__ZN6google8protobuf8internal15ThreadSafeArena13thread_cache_E");
