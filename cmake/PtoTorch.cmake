# torch of the Python interpreter, for the parts that are built against it.
#
#   pto_find_torch()   sets PTO_TORCH_FOUND; on success also the target npu_torch (headers, libtorch_cpu, libc10)
#                      and PTO_TORCH_DIR, PTO_TORCH_VERSION, PTO_PYTHON_SUFFIX (of extension modules)
#
# TorchConfig.cmake looks for CUDA, MKL and more; three libraries and two folders are all that is needed.

macro(pto_find_torch)
  get_property(_known GLOBAL PROPERTY PTO_TORCH_FOUND SET)
  if(NOT _known)
    if(NOT Python_EXECUTABLE)
      find_program(Python_EXECUTABLE NAMES python3 REQUIRED)
    endif()
    execute_process(
      COMMAND ${Python_EXECUTABLE} -c
              "import torch, sysconfig; print(torch.__path__[0]); print(torch.__version__); print(int(torch._C._GLIBCXX_USE_CXX11_ABI)); print(sysconfig.get_path('include')); print(sysconfig.get_config_var('EXT_SUFFIX'))"
      OUTPUT_VARIABLE _facts RESULT_VARIABLE _missing ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(PTO_TORCH_FOUND FALSE)
    if(_missing)
      message(STATUS "${Python_EXECUTABLE} has no torch: the parts for torch are not built")
    else()
      set(PTO_TORCH_FOUND TRUE)
      string(REPLACE "\n" ";" _facts "${_facts}")
      list(GET _facts 0 PTO_TORCH_DIR)
      list(GET _facts 1 PTO_TORCH_VERSION)
      list(GET _facts 2 _abi)
      list(GET _facts 3 _python_include)
      list(GET _facts 4 PTO_PYTHON_SUFFIX)
      message(STATUS "torch ${PTO_TORCH_VERSION}")
      add_library(npu_torch INTERFACE)
      target_include_directories(npu_torch SYSTEM INTERFACE
        ${PTO_TORCH_DIR}/include ${PTO_TORCH_DIR}/include/torch/csrc/api/include ${_python_include})
      target_compile_definitions(npu_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${_abi})
      target_link_libraries(npu_torch INTERFACE ${PTO_TORCH_DIR}/lib/libtorch_cpu.so ${PTO_TORCH_DIR}/lib/libc10.so)
    endif()
    # For the other components, which are sibling folders.
    foreach(_name PTO_TORCH_FOUND PTO_TORCH_DIR PTO_TORCH_VERSION PTO_PYTHON_SUFFIX)
      set_property(GLOBAL PROPERTY ${_name} "${${_name}}")
    endforeach()
  endif()
  foreach(_name PTO_TORCH_FOUND PTO_TORCH_DIR PTO_TORCH_VERSION PTO_PYTHON_SUFFIX)
    get_property(${_name} GLOBAL PROPERTY ${_name})
  endforeach()
endmacro()
