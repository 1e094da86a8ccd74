# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT: the headers of FOLDER as initialisers of an array of DeviceHeader.
file(GLOB headers ${FOLDER}/*.cuh)
list(SORT headers)
set(all "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  get_filename_component(name ${header} NAME)
  string(APPEND all "{\"tutti/${name}\", R\"~~~~(${text})~~~~\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${all}")
