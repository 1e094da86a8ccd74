// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of the emulated device: shared objects that the host's compiler made of kernel text.
#ifndef TUTTI_TEST_EMULATED_MODULE_H
#define TUTTI_TEST_EMULATED_MODULE_H

#include "Driver.h"

struct CUmod_st {
  CUmod_st() = default;
  CUmod_st(const CUmod_st &) = delete;
  ~CUmod_st();

  int file = -1; ///< open as long as the image is loaded: the loader knows images by the name that follows from it
  void *handle = nullptr;
  tutti::EmulatedImage *image = nullptr;
  CUcontext context = nullptr; ///< ends with it; a library's belongs to none
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

namespace tutti::emulated {

CUresult loadModule(Driver &driver, const void *bytes, CUmodule &module);
CUresult findFunction(CUmodule module, const char *name, CUfunction &function);
/// Checks a launch and gathers it.
CUresult describeLaunch(Driver &driver, CUfunction function, const LaunchShape &shape, void **parameters, Work &work);

} // namespace tutti::emulated

#endif
