# The PyTorch backend: libtorch_npu.so (device, operators, C++ surface) and the module torch_npu._C.
# torch is that of the Python interpreter; without one there is nothing to build.

include(${PROJECT_SOURCE_DIR}/cmake/PtoTorch.cmake)
pto_find_torch()
if(NOT PTO_TORCH_FOUND)
  return()
endif()
set(torch_dir ${PTO_TORCH_DIR})
set(extension_suffix ${PTO_PYTHON_SUFFIX})

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
       src/torch/KernelRows.cpp
       src/torch/Recurrent.cpp
       src/torch/OpCommand.cpp
  LINK npu_runtime npu_torch)
# Headers of kineto include each other without their folder.
set_source_files_properties(src/torch/KernelRows.cpp PROPERTIES COMPILE_OPTIONS "-isystem;${torch_dir}/include/kineto;-DUSE_KINETO;-DFMT_HEADER_ONLY"
                            SKIP_PRECOMPILE_HEADERS ON)
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
target_include_directories(torch_npu_C PRIVATE ${PROJECT_SOURCE_DIR}/support/include) # header only
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
