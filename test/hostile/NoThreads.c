/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Loaded before the C library (LD_PRELOAD): a system that gives no more threads. */
#include <errno.h>
#include <pthread.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  (void)thread, (void)attributes, (void)start, (void)argument;
  return EAGAIN;
}
