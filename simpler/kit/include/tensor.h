// The descriptor under the name that kernel and orchestration sources include.
#pragma once
#include "simpler/tensor.h"
