// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-width integers, and which of the two compilers reads the text.
#pragma once

// NVRTC brings no standard headers; these are the definitions of Linux' <cstdint>, so that repeating them is allowed.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

// TUTTI_WHERE ends a parameter list: the caller's line on the emulated device, nothing on CUDA.
#ifdef __CUDACC_RTC__
#define TUTTI_ON_DEVICE 1
#define TUTTI_WHERE
#define TUTTI_AND_WHERE
#else
#define TUTTI_ON_DEVICE 0
#define TUTTI_WHERE ::tutti::Where where = {__builtin_FILE(), __builtin_LINE()}
#define TUTTI_AND_WHERE , TUTTI_WHERE
#endif
