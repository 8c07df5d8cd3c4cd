// Stands for libtorch's header of that name.
#pragma once

#define TORCH_API __attribute__((visibility("default")))
