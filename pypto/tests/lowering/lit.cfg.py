# How lit runs these tests; the build fills in lit.site.cfg.py.
import os

import lit.formats

config.name = "pypto-lowering"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.pypto_obj_root
for name, path in (
    ("%pypto-opt", os.path.join(config.pypto_bin_dir, "pypto-opt")),
    ("%FileCheck", config.filecheck),
    ("%not", config.not_tool),
):
    config.substitutions.append((name, path))
