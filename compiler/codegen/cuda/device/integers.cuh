// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-width integers, which of the two compilers reads the text, and for which compute capability.
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

// TUTTI_CAPABILITY is 10 * major + minor: 75, 80, 86, 89, 90, 100, 120. What an architecture lacks is not declared for
// it, nor on the emulated device.
// TUTTI_WHERE ends a parameter list: the caller's line on the emulated device, nothing on CUDA. TUTTI_AND_THERE hands
// it on.
#ifdef __CUDACC_RTC__
#define TUTTI_ON_DEVICE 1
#define TUTTI_CAPABILITY (__CUDA_ARCH__ / 10)
#define TUTTI_WHERE
#define TUTTI_AND_WHERE
#define TUTTI_AND_THERE
#else
#define TUTTI_ON_DEVICE 0
#ifndef TUTTI_CAPABILITY
#define TUTTI_CAPABILITY 90
#endif
#define TUTTI_WHERE ::tutti::Where where = {__builtin_FILE(), __builtin_LINE()}
#define TUTTI_AND_WHERE , TUTTI_WHERE
#define TUTTI_AND_THERE , where
#endif
