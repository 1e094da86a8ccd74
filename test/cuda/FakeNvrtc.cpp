// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library with NVRTC's entry points that claims a version and compiles nothing: what it says of any text is its log.
#include <cstddef>
#include <cstring>

using Program = void *;
static const int capabilities[] = {CAPABILITIES};
static const char said[] = "kernel.cu(2): error: the fake compiles nothing";
static int program;

extern "C" {
int nvrtcVersion(int *major, int *minor) { return *major = MAJOR, *minor = MINOR, 0; }
const char *nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcGetNumSupportedArchs(int *count) { return *count = sizeof(capabilities) / sizeof(int), 0; }
int nvrtcGetSupportedArchs(int *out) { return std::memcpy(out, capabilities, sizeof(capabilities)), 0; }
int nvrtcCreateProgram(Program *out, const char *, const char *, int, const char *const *, const char *const *) {
  return *out = &program, 0;
}
int nvrtcDestroyProgram(Program *) { return 0; }
int nvrtcCompileProgram(Program, int, const char *const *) { return 6; }
int nvrtcGetProgramLogSize(Program, size_t *size) { return *size = sizeof(said), 0; }
int nvrtcGetProgramLog(Program, char *log) { return std::memcpy(log, said, sizeof(said)), 0; }
int nvrtcGetCUBINSize(Program, size_t *) { return 4; }
int nvrtcGetCUBIN(Program, char *) { return 4; }
int nvrtcGetPTXSize(Program, size_t *) { return 4; }
int nvrtcGetPTX(Program, char *) { return 4; }
}
