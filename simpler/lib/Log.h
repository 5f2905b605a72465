//===- Log.h - messages of orchestrations and the runtime -----------------===//
#ifndef SIMPLER_LOG_H
#define SIMPLER_LOG_H

#include "simpler/c_api.h"

#include <string>

namespace simpler {

class Device;

/// Levels as in Python's logging: DEBUG 10, INFO 20, TIMING 25, WARN 30, ERROR 40, NUL 60.
void logMessage(int32_t level, const char *text);
void setLogThreshold(int32_t level);

/// What simpler_last_error of this thread returns.
void setLastError(const std::string &text);

Device &deviceOf(SimplerWorker *worker);

} // namespace simpler

#endif // SIMPLER_LOG_H
