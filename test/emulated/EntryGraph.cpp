// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: capture into graphs, graphs made node by node, and launching them.
#include "Module.h"

#include <algorithm>

using namespace tutti::emulated;

#define TUTTI_STREAM(handle)                                                                                           \
  CUstream stream = driver.stream(handle);                                                                             \
  TUTTI_EXPECT(stream, CUDA_ERROR_INVALID_HANDLE)

TUTTI_ENTRY cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(!stream->graph, CUDA_ERROR_ILLEGAL_STATE);
  TUTTI_EXPECT(stream != stream->queue->context->defaultStream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  stream->graph = new CUgraph_st;
  stream->origin = true;
  stream->invalidated = false;
  stream->mode = mode;
  stream->tail.clear();
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(graph, CUDA_ERROR_INVALID_VALUE);
  TUTTI_EXPECT(stream->graph && stream->origin, CUDA_ERROR_ILLEGAL_STATE);
  bool invalidated = false;
  CUgraph captured = stream->graph;
  for (CUstream each : stream->queue->context->streams)
    if (each->graph == captured) {
      invalidated |= each->invalidated;
      each->graph = nullptr;
      each->origin = each->invalidated = false;
      each->tail.clear();
    }
  if (invalidated) {
    delete captured;
    *graph = nullptr;
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  driver.graphs.insert(*graph = captured);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(status, CUDA_ERROR_INVALID_VALUE);
  *status = !stream->graph        ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(mode, CUDA_ERROR_INVALID_VALUE);
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphCreate(CUgraph *graph, unsigned flags) {
  TUTTI_CALL();
  TUTTI_EXPECT(graph && flags == 0, CUDA_ERROR_INVALID_VALUE);
  driver.graphs.insert(*graph = new CUgraph_st);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphDestroy(CUgraph graph) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.graphs.erase(graph), CUDA_ERROR_INVALID_HANDLE);
  delete graph;
  return CUDA_SUCCESS;
}

static CUresult addNode(Driver &driver, CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t number, Work work) {
  TUTTI_EXPECT(driver.graphs.count(graph), CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(node && (dependencies || !number), CUDA_ERROR_INVALID_VALUE);
  if (CUresult result = driver.check(work))
    return result;
  auto added = std::make_unique<CUgraphNode_st>();
  added->work = std::move(work);
  for (size_t i = 0; i < number; ++i) {
    auto known = [&](const auto &each) { return each.get() == dependencies[i]; };
    TUTTI_EXPECT(std::any_of(graph->nodes.begin(), graph->nodes.end(), known), CUDA_ERROR_INVALID_VALUE);
    added->dependencies.push_back(dependencies[i]);
  }
  *node = added.get();
  graph->nodes.push_back(std::move(added));
  return CUDA_SUCCESS;
}

static CUresult describe(Driver &driver, const CUDA_KERNEL_NODE_PARAMS *node, Work &work) {
  TUTTI_EXPECT(node, CUDA_ERROR_INVALID_VALUE);
  CUfunction function = node->func ? node->func : reinterpret_cast<CUfunction>(node->kern);
  TUTTI_EXPECT(function && !node->extra, CUDA_ERROR_INVALID_VALUE);
  LaunchShape shape = {{node->gridDimX, node->gridDimY, node->gridDimZ},
                       {node->blockDimX, node->blockDimY, node->blockDimZ},
                       node->sharedMemBytes,
                       work.shape.cluster}; // an attribute, which other parameters leave as it is
  return describeLaunch(driver, function, shape, node->kernelParams, work);
}

static CUresult describe(const CUDA_MEMCPY3D *copy, Work &work) {
  TUTTI_EXPECT(copy && copy->Depth == 1 && !copy->srcZ && !copy->dstZ, CUDA_ERROR_NOT_SUPPORTED);
  work.kind = Work::Kind::copy;
  work.toDevice = copy->dstMemoryType != CU_MEMORYTYPE_HOST;
  work.fromDevice = copy->srcMemoryType != CU_MEMORYTYPE_HOST;
  work.to = (work.toDevice ? copy->dstDevice : reinterpret_cast<uint64_t>(copy->dstHost)) + copy->dstXInBytes +
            copy->dstY * copy->dstPitch;
  work.from = (work.fromDevice ? copy->srcDevice : reinterpret_cast<uint64_t>(copy->srcHost)) + copy->srcXInBytes +
              copy->srcY * copy->srcPitch;
  work.width = copy->WidthInBytes;
  work.height = copy->Height;
  work.toPitch = copy->dstPitch;
  work.fromPitch = copy->srcPitch;
  return CUDA_SUCCESS;
}

static CUresult describe(const CUDA_MEMSET_NODE_PARAMS *set, Work &work) {
  TUTTI_EXPECT(set && (set->elementSize == 1 || set->elementSize == 2 || set->elementSize == 4),
               CUDA_ERROR_INVALID_VALUE);
  work.kind = Work::Kind::set;
  work.toDevice = true;
  work.to = set->dst;
  work.value = set->value;
  work.elementSize = set->elementSize;
  work.width = set->width * set->elementSize;
  work.height = set->height;
  work.toPitch = set->pitch;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t number,
                                    const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TUTTI_CALL();
  Work work;
  if (CUresult result = describe(driver, parameters, work))
    return result;
  return addNode(driver, node, graph, dependencies, number, std::move(work));
}

TUTTI_ENTRY cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t number,
                                 const CUDA_MEMCPY3D *copy, CUcontext) {
  TUTTI_CALL();
  Work work;
  if (CUresult result = describe(copy, work))
    return result;
  return addNode(driver, node, graph, dependencies, number, std::move(work));
}

TUTTI_ENTRY cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t number,
                                 const CUDA_MEMSET_NODE_PARAMS *set, CUcontext) {
  TUTTI_CALL();
  Work work;
  if (CUresult result = describe(set, work))
    return result;
  return addNode(driver, node, graph, dependencies, number, std::move(work));
}

TUTTI_ENTRY cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t number) {
  TUTTI_CALL();
  return addNode(driver, node, graph, dependencies, number, {});
}

TUTTI_ENTRY cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *number) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.graphs.count(graph) && number, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; nodes && i < *number; ++i)
    nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  *number = nodes ? std::min(*number, graph->nodes.size()) : graph->nodes.size();
  return CUDA_SUCCESS;
}

/// CU_GRAPH_NODE_TYPE_*: kernel 0, copy 1, set 2, host 3, empty 5.
TUTTI_ENTRY cuGraphNodeGetType(CUgraphNode node, int *type) {
  TUTTI_CALL();
  TUTTI_EXPECT(node && type, CUDA_ERROR_INVALID_VALUE);
  static constexpr int types[] = {5, 0, 1, 2, 3};
  *type = types[int(node->work.kind)];
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TUTTI_CALL();
  TUTTI_EXPECT(node && node->work.kind == Work::Kind::launch, CUDA_ERROR_INVALID_VALUE);
  return describe(driver, parameters, node->work);
}

TUTTI_ENTRY cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                          const CUlaunchAttributeValue *value) {
  TUTTI_CALL();
  TUTTI_EXPECT(node && value && node->work.kind == Work::Kind::launch, CUDA_ERROR_INVALID_VALUE);
  TUTTI_EXPECT(attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CUDA_ERROR_NOT_SUPPORTED);
  Work &work = node->work;
  LaunchShape shape = work.shape;
  shape.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
  auto values = work.parameters;
  std::vector<void *> parameters;
  for (auto &each : values)
    parameters.push_back(each.data());
  return describeLaunch(driver, work.function, shape, parameters.data(), work);
}

TUTTI_ENTRY cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  TUTTI_CALL();
  TUTTI_EXPECT(exec && driver.graphs.count(graph), CUDA_ERROR_INVALID_VALUE);
  auto made = std::make_unique<CUgraphExec_st>();
  for (const auto &node : graph->nodes) {
    CUgraphExec_st::Node copy = {node.get(), node->work, {}};
    for (CUgraphNode dependency : node->dependencies)
      for (size_t i = 0; i < made->nodes.size(); ++i)
        if (made->nodes[i].origin == dependency)
          copy.dependencies.push_back(i);
    made->nodes.push_back(std::move(copy));
  }
  driver.graphExecs.insert(*exec = made.release());
  return CUDA_SUCCESS;
}

static CUresult update(CUgraphExec_st &exec, CUgraph graph) {
  TUTTI_EXPECT(exec.nodes.size() == graph->nodes.size(), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < exec.nodes.size(); ++i)
    TUTTI_EXPECT(exec.nodes[i].work.kind == graph->nodes[i]->work.kind, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < exec.nodes.size(); ++i)
    exec.nodes[i].work = graph->nodes[i]->work;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.graphExecs.count(exec) && driver.graphs.count(graph), CUDA_ERROR_INVALID_HANDLE);
  driver.drainAll(call.context);
  CUresult result = update(*exec, graph);
  if (info)
    *info = {result != CUDA_SUCCESS, nullptr, nullptr};
  return result == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

template <class F> static CUresult change(Call &call, CUgraphExec exec, CUgraphNode node, F describe) {
  TUTTI_EXPECT(call.driver.graphExecs.count(exec), CUDA_ERROR_INVALID_HANDLE);
  for (auto &each : exec->nodes)
    if (each.origin == node) {
      // Launches that were asked for keep what they were asked with.
      call.driver.drainAll(call.context);
      return describe(each.work);
    }
  return CUDA_ERROR_INVALID_VALUE;
}

TUTTI_ENTRY cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_KERNEL_NODE_PARAMS *parameters) {
  TUTTI_CALL();
  return change(call, exec, node, [&](Work &work) {
    CUfunction before = work.function;
    Work changed = work;
    if (CUresult result = describe(driver, parameters, changed))
      return result;
    // A node's function may become another one of its context.
    TUTTI_EXPECT(changed.function->module->context == before->module->context, CUDA_ERROR_INVALID_VALUE);
    work = std::move(changed);
    return CUDA_SUCCESS;
  });
}

TUTTI_ENTRY cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext) {
  TUTTI_CALL();
  return change(call, exec, node, [&](Work &work) { return describe(copy, work); });
}

TUTTI_ENTRY cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *set,
                                           CUcontext) {
  TUTTI_CALL();
  return change(call, exec, node, [&](Work &work) { return describe(set, work); });
}

TUTTI_ENTRY cuGraphExecDestroy(CUgraphExec exec) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.graphExecs.count(exec), CUDA_ERROR_INVALID_HANDLE);
  driver.drainAll(call.context);
  driver.graphExecs.erase(exec);
  delete exec;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphUpload(CUgraphExec exec, CUstream handle) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(driver.graphExecs.count(exec), CUDA_ERROR_INVALID_HANDLE);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  TUTTI_CALL();
  TUTTI_STREAM(handle);
  TUTTI_EXPECT(driver.graphExecs.count(exec), CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!stream->graph, CUDA_ERROR_NOT_SUPPORTED);
  CUcontext context = stream->queue->context;
  driver.submit(stream, [&driver, context, exec] { return driver.executeGraph(context, *exec); });
  return CUDA_SUCCESS;
}
