# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is installed beside the tools and the runtime, and the archive that cpack makes of it (./dev release).
#
# The component `libraries` has the shared libraries that the tools load, but for the C and C++ ones, which every Debian 12
# has: with it the tree runs where no LLVM is installed. It is in the archive and not in a plain `cmake --install`.

set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents} FILES_MATCHING PATTERN *.md PATTERN *.png)
# What the pages point at.
install(FILES benchmarks/README.md DESTINATION ${documents}/benchmarks)
install(DIRECTORY benchmarks/results DESTINATION ${documents}/benchmarks FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(FILES test/numerics/exhaustive.md DESTINATION ${documents}/test/numerics)
install(FILES runtime/schema/artifact.fbs runtime/schema/Format.h runtime/schema/Layout.h runtime/schema/Limits.h DESTINATION ${documents}/runtime/schema)
install(DIRECTORY examples/embed-c examples/embed-cpp examples/lit DESTINATION ${documents}/examples PATTERN __pycache__ EXCLUDE)
install(FILES examples/digits/README.md examples/digits/images.npy DESTINATION ${documents}/examples/digits)
install(DIRECTORY examples/digits/models DESTINATION ${documents}/examples/digits)

if(TUTTI_BUILD_COMPILER)
  # The others need the C and C++ libraries only.
  set(TUTTI_COMPILER_TOOLS tutti-compile tutti-lsp-server tutti-opt tutti-verify)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/InstallLibraries.cmake.in InstallLibraries.cmake @ONLY)
  install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/InstallLibraries.cmake COMPONENT libraries EXCLUDE_FROM_ALL)
endif()

# The Python package, where ./dev release has made a wheel of it.
install(DIRECTORY ${PROJECT_BINARY_DIR}/dist/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/tutti/python COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.whl)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR Tutti)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ensembles of neural networks, compiled ahead of time")
string(TOLOWER "tutti-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
include(CPack)
