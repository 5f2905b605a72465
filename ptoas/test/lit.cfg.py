# How lit runs these tests; the build fills in lit.site.cfg.py.
import os

import lit.formats

config.name = "ptoas"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pto", ".mlir"]
config.excludes = ["fuzz"]  # seeds of the fuzz targets, not tests
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.ptoas_obj_root
checker = os.path.join(config.test_source_root, "check_text.py")
pto_opt = os.path.join(config.ptoas_bin_dir, "pto-opt")
for name, path in (
    ("%check-text", f"{config.python} {checker} {pto_opt}"),
    ("%ptoas", os.path.join(config.ptoas_bin_dir, "ptoas")),
    ("%pto-opt", pto_opt),
    ("%ptobc", os.path.join(config.ptoas_bin_dir, "ptobc")),
    ("%pto-run", os.path.join(config.ptoas_bin_dir, "pto-run")),
    ("%python", config.python),
    ("%FileCheck", config.filecheck),
    ("%not", config.not_tool),
):
    config.substitutions.append((name, path))
if config.has_native:
    config.available_features.add("native")
