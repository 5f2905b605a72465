// The qualifiers of kernel sources, for trees without the tile instruction library (pto-isa).
// A kernel that uses tile instructions does not compile with this header.
#pragma once
#include <cstdint>
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
