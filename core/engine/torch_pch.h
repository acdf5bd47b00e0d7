// Precompiled for the engine's torch files: parsing torch takes half a minute, loading this a second. c10d is
// not in it, only ddp.cpp and communicator.cpp need that.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn.h>
