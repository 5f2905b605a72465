//===- NativePch.h - headers that every file of the native target needs ---===//
#include "Emitter.h"
