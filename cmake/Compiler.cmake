# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the compiler's libraries are built: against LLVM's and MLIR's shared libraries, with one precompiled header.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS $ENV{MLIR_DIR} /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR ${MLIR_VERSION} in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# Debian's LLVM has RTTI and no exceptions. -O1 keeps a change in one file under three seconds.
add_library(tutti_mlir INTERFACE)
target_include_directories(tutti_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(tutti_mlir INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_definitions(tutti_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(tutti_mlir INTERFACE -O1 -g0 -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
target_link_libraries(tutti_mlir INTERFACE MLIR LLVM)

add_library(tutti_pch OBJECT ${CMAKE_CURRENT_LIST_DIR}/Precompiled.cpp)
target_link_libraries(tutti_pch PRIVATE tutti_mlir)
target_precompile_headers(tutti_pch PRIVATE ${CMAKE_CURRENT_LIST_DIR}/Precompiled.h)

# tutti_compiler_library(NAME): NAME builds against MLIR and reads generated headers.
function(tutti_compiler_library name)
  target_link_libraries(${name} PUBLIC tutti_mlir)
  target_precompile_headers(${name} REUSE_FROM tutti_pch)
  target_compile_options(${name} PRIVATE -Winvalid-pch)
endfunction()
