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
/* Checks the module at a level (1 to 3); inserts flags and, below level 3, addresses if asked, and
 * reports instructions without an order if asked. "" or the messages. */
const char *pto_module_check(pto_module *module, unsigned level, int insert_sync, int verify_sync);
/* The C++ of a checked module, with a drain of the queues at the end (for inserted flags) and the
 * places of the ops if asked. Null with pto_module_problem set if it has none. */
const char *pto_module_cpp(pto_module *module, int drain, int locations);

/* Building (requests and answers are JSON; an answer with "error" holds the messages, and nothing
 * was built). A new module is empty, and what is built goes into its body. Numbers of values and
 * ops hold until pto_build_finish. `arch` is "a2", "a3" or "a5". */
pto_module *pto_module_new(const char *arch);
/* {"name": op, "operands": [value], "types": [text] (absent: inferred), "attributes": {name: text},
 * "regions": count, "location": [file, line, column]} -> {"op": number, "results": [{"number",
 * "type"}]}. The rules of an op without regions are checked at once. */
const char *pto_build_op(pto_module *module, const char *request);
/* {"op": number, "region": index, "types": [text] of the block's arguments} -> {"arguments":
 * [{"number", "type"}]}: what follows goes into that region, until pto_build_leave. */
const char *pto_build_enter(pto_module *module, const char *request);
void pto_build_leave(pto_module *module);
/* Checks the rules of the whole module and ends the building. "" or the messages. */
const char *pto_build_finish(pto_module *module);

/* The enums of the dialect as JSON: name -> word -> number. */
const char *pto_enums(void);

#ifdef __cplusplus
}
#endif

#endif /* PTOAS_PYTHON_PYTHONACCESS_H */
