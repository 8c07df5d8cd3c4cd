// Exceptions of C++ in functions of Objective-C++: the backend throws and catches no others. ObjFW's
// own function finds only handlers of Objective-C.
#include <unwind.h>

#include <cstdint>

extern "C" _Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions,
                                                    uint64_t exception_class,
                                                    _Unwind_Exception* exception,
                                                    _Unwind_Context* context);

extern "C" _Unwind_Reason_Code __gnu_objc_personality_v0(int version, _Unwind_Action actions,
                                                         uint64_t exception_class,
                                                         _Unwind_Exception* exception,
                                                         _Unwind_Context* context) {
  return __gxx_personality_v0(version, actions, exception_class, exception, context);
}
