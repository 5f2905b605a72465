/*===- PythonAccess.h - modules for Python, as a C interface ---------------===*/
/*
 * A module is a handle that its caller frees. Texts that a function gives belong to the handle (or,
 * without one, to the library) and hold until the next call with the same handle. A handle is used
 * by one thread at a time; different handles by different threads.
 */
#ifndef PTOAS_PYTHON_PYTHONACCESS_H
#define PTOAS_PYTHON_PYTHONACCESS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pto_module pto_module;

/* Parses and verifies `size` bytes of text or bytecode. `arch` ("a2", "a3", "a5" or "") overrides
 * the architecture of the module. The handle is never null; pto_module_problem says whether it
 * holds a module: "" or all messages, a line each. */
pto_module *pto_module_parse(const char *bytes, size_t size, const char *name, const char *arch);
const char *pto_module_problem(pto_module *module);
void pto_module_free(pto_module *module);

/* The text; with locations behind the ops if asked. */
const char *pto_module_text(pto_module *module, int locations);
const char *pto_module_bytecode(pto_module *module, size_t *size);
/* All ops as JSON: name, location, attributes (texts), operands and results (numbers of values),
 * regions of blocks of ops; and the types of the values by number. */
const char *pto_module_ops(pto_module *module);
/* Checks the module at a level (1 to 3); inserts flags and, below level 3, addresses if asked. ""
 * or the messages. */
const char *pto_module_check(pto_module *module, unsigned level, int insert_sync);

/* The enums of the dialect as JSON: name -> word -> number. */
const char *pto_enums(void);

#ifdef __cplusplus
}
#endif

#endif /* PTOAS_PYTHON_PYTHONACCESS_H */
