# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the runtime: one shared and one static library, two headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
set_target_properties(tutti_shared PROPERTIES EXPORT_NAME tutti)
# The component `runtime` is what programs run with, `development` what they are built with.
install(TARGETS tutti_shared tutti_static EXPORT TuttiTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
foreach(component runtime development) # each may be the only one that somebody packs
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/licenses/tutti COMPONENT ${component})
endforeach()
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${package} COMPONENT development)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TuttiConfig.cmake.in TuttiConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
# The tree may be moved: the prefix is where the file lies, less the folders of the library directory, which may be several
# (lib/x86_64-linux-gnu).
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/tutti.pc.in tutti.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)
