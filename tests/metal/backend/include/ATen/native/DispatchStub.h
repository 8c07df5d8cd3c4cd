// In front of libtorch's header of this name. A Linux libtorch was compiled without a place for
// kernels of mps in its tables, so none may be written there. registrations.mm registers those that
// are needed as operators.
#pragma once

#include_next <ATen/native/DispatchStub.h>

#undef REGISTER_DISPATCH
#undef REGISTER_MPS_DISPATCH
#define REGISTER_DISPATCH(name, function)
#define REGISTER_MPS_DISPATCH(name, function)
