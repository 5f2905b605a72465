//===- Export.h - visibility of the runtime's API -------------------------===//
#pragma once

#define NPU_API __attribute__((visibility("default")))
