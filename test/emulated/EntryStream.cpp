// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: streams, events, launches.
#include "Module.h"

using namespace tutti::emulated;

static CUresult create(CUcontext context, CUstream *stream, unsigned flags, int priority) {
  TUTTI_EXPECT(stream && flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
  *stream = new CUstream_st;
  (*stream)->flags = flags;
  (*stream)->priority = priority;
  (*stream)->queue = std::make_shared<Queue>();
  (*stream)->queue->context = context;
  (*stream)->queue->blocking = !(flags & CU_STREAM_NON_BLOCKING);
  context->streams.insert(*stream);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  TUTTI_CALL();
  return create(call.context, stream, flags, priority);
}

TUTTI_ENTRY cuStreamCreate(CUstream *stream, unsigned flags) {
  TUTTI_CALL();
  return create(call.context, stream, flags, 0);
}

TUTTI_ENTRY cuStreamDestroy_v2(CUstream handle) {
  TUTTI_CALL();
  CUstream stream = driver.stream(handle);
  TUTTI_EXPECT(stream && stream == handle, CUDA_ERROR_INVALID_HANDLE);
  CUresult result = driver.drain(*stream->queue, stream->queue->asked);
  stream->queue->context->streams.erase(stream);
  delete stream;
  return result;
}

#define TUTTI_STREAM(handle)                                                                                           \
  CUstream stream = driver.stream(handle);                                                                             \
  TUTTI_EXPECT(stream, CUDA_ERROR_INVALID_HANDLE)

TUTTI_ENTRY cuStreamSynchronize(CUstream handle) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  if (CUresult result = driver.refuseCapture(stream))
    return result;
  return driver.drain(*stream->queue, stream->queue->asked);
}

/// Each question lets one operation happen, so that somebody who asks again and again gets there.
static CUresult query(Driver &driver, Queue &queue, uint64_t position) {
  if (queue.done >= position)
    return queue.context->error;
  CUresult result = driver.drain(queue, queue.done + 1);
  return result ? result : CUDA_ERROR_NOT_READY;
}

TUTTI_ENTRY cuStreamQuery(CUstream handle) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  if (CUresult result = driver.refuseCapture(stream))
    return result;
  return query(driver, *stream->queue, stream->queue->asked);
}

/// Of a stream that somebody has made, threads without a context may ask, too.
TUTTI_ENTRY cuStreamGetCtx(CUstream handle, CUcontext *context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(call.context || reinterpret_cast<uintptr_t>(handle) > 2, CUDA_ERROR_INVALID_CONTEXT);
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(context, CUDA_ERROR_INVALID_VALUE);
  *context = stream->queue->context;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamGetFlags(CUstream handle, unsigned *flags) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(flags, CUDA_ERROR_INVALID_VALUE);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamGetPriority(CUstream handle, int *priority) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(priority, CUDA_ERROR_INVALID_VALUE);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

// Events.

TUTTI_ENTRY cuEventCreate(CUevent *event, unsigned flags) {
  TUTTI_CALL();
  TUTTI_EXPECT(event, CUDA_ERROR_INVALID_VALUE);
  *event = new CUevent_st{call.context, flags, nullptr, 0, 0, nullptr, {}};
  driver.events.insert(*event);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuEventDestroy_v2(CUevent event) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.events.count(event), CUDA_ERROR_INVALID_HANDLE);
  if (event->queue && driver.contexts.count(event->context))
    driver.drain(*event->queue, event->position);
  driver.events.erase(event);
  delete event;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuEventRecord(CUevent event, CUstream handle) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(driver.events.count(event) && event->context == stream->queue->context, CUDA_ERROR_INVALID_HANDLE);
  if (stream->graph) {
    event->graph = stream->graph;
    event->tail = stream->tail;
    return CUDA_SUCCESS;
  }
  event->graph = nullptr;
  event->queue = stream->queue;
  driver.submit(stream, [&driver, event] {
    if (driver.events.count(event))
      event->milliseconds = driver.clock;
    return CUDA_SUCCESS;
  });
  event->position = stream->queue->asked;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuEventQuery(CUevent event) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.events.count(event), CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!event->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return event->queue ? query(driver, *event->queue, event->position) : CUDA_SUCCESS;
}

TUTTI_ENTRY cuEventSynchronize(CUevent event) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.events.count(event), CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!event->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return event->queue ? driver.drain(*event->queue, event->position) : CUDA_SUCCESS;
}

TUTTI_ENTRY cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to) {
  TUTTI_CALL();
  TUTTI_EXPECT(milliseconds && driver.events.count(from) && driver.events.count(to), CUDA_ERROR_INVALID_HANDLE);
  for (CUevent event : {from, to}) {
    TUTTI_EXPECT(event->queue && !(event->flags & CU_EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE);
    TUTTI_EXPECT(event->queue->done >= event->position, CUDA_ERROR_NOT_READY);
  }
  *milliseconds = float(to->milliseconds - from->milliseconds);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(driver.events.count(event), CUDA_ERROR_INVALID_HANDLE);
  if (event->graph) {
    // The stream joins the capture.
    TUTTI_EXPECT(!stream->graph || stream->graph == event->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    stream->graph = event->graph;
    stream->tail.insert(stream->tail.end(), event->tail.begin(), event->tail.end());
    return CUDA_SUCCESS;
  }
  TUTTI_EXPECT(!stream->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (!event->queue)
    return CUDA_SUCCESS;
  driver.submit(stream, [] { return CUDA_SUCCESS; });
  stream->queue->waiting.back().after.push_back({event->queue, event->position});
  return CUDA_SUCCESS;
}

// Launches.

static CUresult launch(Driver &driver, const CUlaunchConfig *config, CUfunction function, void **parameters,
                       void **extra) {
  TUTTI_EXPECT(config && (config->attrs || !config->numAttrs), CUDA_ERROR_INVALID_VALUE);
  TUTTI_STREAM(config->hStream);
  TUTTI_EXPECT(function, CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!extra, CUDA_ERROR_NOT_SUPPORTED);
  if (CUcontext owner = function->module->context; owner && owner != stream->queue->context) {
    driver.report("launch of kernel " + function->name + ": the stream is of another context than the function");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  Work work;
  LaunchShape shape = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ},
                       config->sharedMemBytes,
                       {}};
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (const auto &cluster = config->attrs[i].value.clusterDim;
        config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      shape.cluster = {cluster.x, cluster.y, cluster.z};
  if (CUresult result = describeLaunch(driver, function, shape, parameters, work))
    return result;
  return driver.submit(stream, std::move(work));
}

TUTTI_ENTRY cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                           unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream handle, void **parameters,
                           void **extra) {
  TUTTI_CALL();
  CUlaunchConfig config = {gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, handle, nullptr, 0};
  return launch(driver, &config, function, parameters, extra);
}

TUTTI_ENTRY cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  TUTTI_CALL();
  return launch(driver, config, function, parameters, extra);
}

TUTTI_ENTRY cuLaunchHostFunc(CUstream handle, CUhostFn function, void *userData) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  Work work;
  work.kind = Work::Kind::host;
  work.hostFunction = function;
  work.userData = userData;
  return driver.submit(stream, std::move(work));
}
