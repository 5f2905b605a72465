# What a wheel holds besides the Python files that pyproject.toml names: extension modules and the libraries they need,
# the headers that kernels and orchestrations are compiled with, and the assembler's commands. Included last, when all
# targets exist; each rule is for what this build has.
#
#   pypto/_core.so …            pypto/lib/lib*.so             simpler/_task_interface*.so   ptoas/_ptoas.so
#   simpler_setup/_assets/kit   simpler_setup/_assets/include
#   bin/ptoas, pto-run, …       (the wheel's folder of scripts)
#
# A wheel is built in a folder of its own: its extension modules must not land among the sources, where the
# development build has put others.

set(_wheel_extensions _core _compiler _torch_ops _torch_ops_npu pypto_torch_npu simpler_python ptoas_python)

if(SKBUILD)
  foreach(target IN LISTS _wheel_extensions)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/extensions/${target})
    endif()
  endforeach()
  set(_wheel_scripts ${SKBUILD_SCRIPTS_DIR})
else()
  set(_wheel_scripts bin)
endif()

# LLVM is the system's; its folder is not always among those that the loader knows.
# The imported targets of LLVM are known in the folders that found them only, so the library is looked for.
find_library(_wheel_llvm_library NAMES LLVM LLVM-22 HINTS /usr/lib/llvm-22/lib)
if(_wheel_llvm_library)
  get_filename_component(_wheel_llvm ${_wheel_llvm_library} DIRECTORY)
endif()
if(TARGET _compiler)
  set_target_properties(_compiler PROPERTIES INSTALL_RPATH "$ORIGIN/lib;${_wheel_llvm}")
endif()

if(TARGET ptoas_python)
  set_target_properties(ptoas_python PROPERTIES INSTALL_RPATH "${_wheel_llvm}")
endif()

if(TARGET simpler_python)
  set_target_properties(simpler_python PROPERTIES INSTALL_RPATH "$ORIGIN/../pypto/lib")
  install(TARGETS simpler_python LIBRARY DESTINATION simpler COMPONENT wheel)
  if(NOT TARGET _core) # else that brings the library
    install(TARGETS simpler_core LIBRARY DESTINATION pypto/lib COMPONENT wheel)
  endif()
  install(DIRECTORY simpler/kit simpler/include DESTINATION simpler_setup/_assets COMPONENT wheel
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cpp")
endif()

# From a virtual environment's bin to its packages.
find_package(Python QUIET COMPONENTS Interpreter)
set(_wheel_packages "$ORIGIN/../lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages")
foreach(program ptoas pto-opt pto-run ptobc)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "${_wheel_packages}/pypto/lib;${_wheel_llvm}")
    install(TARGETS ${program} RUNTIME DESTINATION ${_wheel_scripts} COMPONENT wheel)
  endif()
endforeach()
