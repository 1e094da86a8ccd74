# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the compiler's libraries are built: against LLVM's and MLIR's shared libraries, with one precompiled header.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS $ENV{MLIR_DIR} /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR ${MLIR_VERSION} in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# Debian's LLVM has RTTI and no exceptions. -O1 keeps a change in one file under three seconds; a build for a debugger has
# the flags of its build type.
add_library(tutti_mlir INTERFACE)
target_include_directories(tutti_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(tutti_mlir INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_definitions(tutti_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(tutti_mlir INTERFACE $<$<NOT:$<CONFIG:Debug,RelWithDebInfo>>:-O1$<SEMICOLON>-g0> -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
target_link_libraries(tutti_mlir INTERFACE MLIR LLVM)

# tutti_precompiled(NAME): an object library with the headers that nearly all of the compiler's files read.
set(TUTTI_PRECOMPILED ${CMAKE_CURRENT_LIST_DIR}/Precompiled)
function(tutti_precompiled name)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${TUTTI_PRECOMPILED}.cpp)
  target_link_libraries(${name} PRIVATE tutti_mlir)
  target_precompile_headers(${name} PRIVATE ${TUTTI_PRECOMPILED}.h)
  add_dependencies(${name} tutti_tablegen_targets)
endfunction()
tutti_precompiled(tutti_pch)
if(BUILD_TESTING) # with GoogleTest
  find_package(GTest REQUIRED)
  tutti_precompiled(tutti_test_pch)
  target_link_libraries(tutti_test_pch PRIVATE GTest::gtest)
  target_precompile_headers(tutti_test_pch PRIVATE <gtest/gtest.h>)
endif()

# tutti_compiler_library(NAME), tutti_compiler_test(NAME): NAME builds against MLIR and reads generated headers.
function(tutti_against_mlir name headers)
  target_link_libraries(${name} PUBLIC tutti_mlir)
  target_precompile_headers(${name} REUSE_FROM ${headers})
  target_compile_options(${name} PRIVATE -Winvalid-pch)
endfunction()
function(tutti_compiler_library name)
  tutti_against_mlir(${name} tutti_pch)
endfunction()
function(tutti_compiler_test name)
  tutti_against_mlir(${name} tutti_test_pch)
endfunction()
