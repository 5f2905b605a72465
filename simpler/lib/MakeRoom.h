//===- MakeRoom.h - grow a vector before there is something to lose -------===//
#ifndef SIMPLER_MAKE_ROOM_H
#define SIMPLER_MAKE_ROOM_H

#include <vector>

namespace simpler {

/// Afterwards one push_back cannot throw. Capacity doubles.
template <typename T> void makeRoom(std::vector<T> &items) {
  if (items.size() == items.capacity())
    items.reserve(items.size() * 2 + 16);
}

} // namespace simpler

#endif // SIMPLER_MAKE_ROOM_H
