//===- CalcuOpUtil.h - kept for extensions that include it ----------------===//
#pragma once

#include "torch_npu/csrc/framework/utils/OpAdapter.h"
