# The PyTorch backend: libtorch_npu.so (device, operators, C++ surface) and the module torch_npu._C.
# torch is that of the Python interpreter; without one there is nothing to build.

if(NOT Python_EXECUTABLE)
  find_program(Python_EXECUTABLE NAMES python3 REQUIRED)
endif()
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import torch, sysconfig; print(torch.__path__[0]); print(torch.__version__); print(int(torch._C._GLIBCXX_USE_CXX11_ABI)); print(sysconfig.get_path('include')); print(sysconfig.get_config_var('EXT_SUFFIX'))"
  OUTPUT_VARIABLE torch_facts RESULT_VARIABLE torch_missing ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(torch_missing)
  message(STATUS "torch-npu-sim: ${Python_EXECUTABLE} has no torch; the PyTorch backend is not built")
  return()
endif()
string(REPLACE "\n" ";" torch_facts "${torch_facts}")
list(GET torch_facts 0 torch_dir)
list(GET torch_facts 1 torch_version)
list(GET torch_facts 2 torch_abi)
list(GET torch_facts 3 python_include)
list(GET torch_facts 4 extension_suffix)
message(STATUS "torch-npu-sim: torch ${torch_version}")

# TorchConfig.cmake looks for CUDA, MKL and more; three libraries and two folders are all that is needed.
add_library(npu_torch INTERFACE)
target_include_directories(npu_torch SYSTEM INTERFACE
  ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include ${python_include})
target_compile_definitions(npu_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${torch_abi})
target_link_libraries(npu_torch INTERFACE ${torch_dir}/lib/libtorch_cpu.so ${torch_dir}/lib/libc10.so)

set(npu_package ${CMAKE_CURRENT_SOURCE_DIR}/python/torch_npu)

pto_library(torch_npu SHARED
  PCH src/torch/Pch.h
  HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/include
  SRCS src/torch/Storage.cpp
       src/torch/Execute.cpp
       src/torch/HotOps.cpp
       src/torch/MemoryOps.cpp
       src/torch/Convolution.cpp
       src/torch/Format.cpp
       src/torch/Guard.cpp
       src/torch/Generator.cpp
       src/torch/Pinned.cpp
       src/torch/Autocast.cpp
       src/torch/GraphImpl.cpp
       src/torch/Serialization.cpp
       src/torch/Profiler.cpp
       src/torch/OpCommand.cpp
  LINK npu_runtime npu_torch)
set_target_properties(torch_npu PROPERTIES
  CXX_VISIBILITY_PRESET default # _C and extensions call it
  LIBRARY_OUTPUT_DIRECTORY ${npu_package}/lib
  BUILD_RPATH "${torch_dir}/lib"
  INSTALL_RPATH "$ORIGIN/../../torch/lib")
# The runtime's API is part of the library's: extensions link libtorch_npu only.
target_link_options(torch_npu PRIVATE -Wl,--whole-archive $<TARGET_FILE:npu_runtime> -Wl,--no-whole-archive)

add_library(torch_npu_C MODULE src/torch/Module.cpp)
target_precompile_headers(torch_npu_C PRIVATE src/torch/Pch.h)
target_compile_options(torch_npu_C PRIVATE ${PTO_WARNINGS})
target_link_libraries(torch_npu_C PRIVATE torch_npu npu_torch ${torch_dir}/lib/libtorch_python.so)
set_target_properties(torch_npu_C PROPERTIES
  OUTPUT_NAME _C PREFIX "" SUFFIX "${extension_suffix}"
  LIBRARY_OUTPUT_DIRECTORY ${npu_package}
  BUILD_RPATH "$ORIGIN/lib;${torch_dir}/lib"
  INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../torch/lib")

if(PTO_BUILD_TESTS)
  add_library(npu_test_extension MODULE tests/extension/Extension.cpp)
  target_precompile_headers(npu_test_extension PRIVATE src/torch/Pch.h)
  target_compile_options(npu_test_extension PRIVATE ${PTO_WARNINGS})
  target_link_libraries(npu_test_extension PRIVATE torch_npu npu_torch)
  set_target_properties(npu_test_extension PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests/extension
    BUILD_RPATH "${npu_package}/lib;${torch_dir}/lib")
endif()

# `import torch` loads the device by itself where this metadata is on the module path.
set(npu_metadata ${CMAKE_CURRENT_BINARY_DIR}/torch_npu_sim-2.10.0.post2.dist-info)
file(CONFIGURE OUTPUT ${npu_metadata}/METADATA
     CONTENT "Metadata-Version: 2.1\nName: torch-npu-sim\nVersion: 2.10.0.post2\n")
file(CONFIGURE OUTPUT ${npu_metadata}/entry_points.txt
     CONTENT "[torch.backends]\ntorch_npu = torch_npu_autoload:_autoload\n")
add_custom_command(TARGET torch_npu_C POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${npu_metadata}
          ${CMAKE_CURRENT_SOURCE_DIR}/python/torch_npu_sim-2.10.0.post2.dist-info)
