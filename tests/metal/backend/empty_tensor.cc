// libtorch's own way to empty tensors of mps, which its source has for a Mac alone.
#include <ATen/ATen.h>
#include <ATen/Utils.h>
#include <ATen/mps/EmptyTensor.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/Resize.h>
#include <ATen/native/mps/Copy.h>
#include <torch/library.h>

#define __APPLE__ 1
#undef __is_target_os
#define __is_target_os(name) 1
#include <ATen/mps/EmptyTensor.cpp>
