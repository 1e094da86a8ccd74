// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several launches as one CUDA graph.
#include "Engine.h"

namespace tutti::rt {

static bool sameCluster(const Geometry &a, const Geometry &b) {
  for (uint32_t d = 0; d < 3; ++d)
    if ((count(a.cluster) ? a.cluster->Get(d) : 1) != (count(b.cluster) ? b.cluster->Get(d) : 1))
      return false;
  return true;
}

/// Whether the launches' geometries have the clusters of their first ones, or of their last.
bool CudaEngine::hasClusters(bool last) const {
  for (uint32_t i = 0; i < launches.size(); ++i) {
    const fb::Launch &launch = *call.launches[i].launch;
    if (!sameCluster(geometryOf(launch, launches[i].geometry),
                     geometryOf(launch, last ? launches[i].geometries - 1 : 0)))
      return false;
  }
  return true;
}

/// Where there is more than one launch: of the last geometries, and of the first ones if their clusters are others.
tutti_status_t CudaEngine::buildGraphs(tutti_error_t *error) {
  if (launches.size() < 2)
    return TUTTI_OK;
  bool same = hasClusters(/*last=*/false);
  if (auto status = buildGraph(/*last=*/true, error); status || same)
    return status;
  return buildGraph(/*last=*/false, error);
}

tutti_status_t CudaEngine::buildGraph(bool last, tutti_error_t *error) {
  Graph &made = graphs[last];
  if (!made.nodes.allocate(launches.size()))
    return outOfMemory(error, "a graph's nodes", launches.size() * sizeof(CUgraphNode));
  CUresult result = driver->cuGraphCreate(&made.handle, 0);
  // The launches of a step wait for those of the step before, and not for each other.
  uint32_t before = 0, own = 0;
  for (uint32_t i = 0; i < launches.size() && !result; ++i) {
    apply(i, last ? launches[i].geometries - 1 : 0);
    LaunchState &state = launches[i];
    if (call.launches[i].step != call.launches[own].step)
      before = std::exchange(own, i);
    auto whole = [&](unsigned block, unsigned cluster) { return state.clustered ? cluster : block; };
    const auto &cluster = state.cluster.value.clusterDim;
    CUDA_KERNEL_NODE_PARAMS what = state.what; // any grid: every run sets its own
    what.gridDimX = whole(1, cluster.x);
    what.gridDimY = whole(1, cluster.y);
    what.gridDimZ = whole(1, cluster.z);
    CUgraphNode *nodes = made.nodes.data();
    result = driver->cuGraphAddKernelNode(&nodes[i], made.handle, nodes + before, own - before, &what);
    if (!result && state.clustered)
      result =
          driver->cuGraphKernelNodeSetAttribute(nodes[i], CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &state.cluster.value);
  }
  if (!result)
    result = driver->cuGraphInstantiateWithFlags(&made.exec, made.handle, 0);
  if (!result)
    result = driver->cuGraphUpload(made.exec, stream);
  if (!result)
    result = driver->cuStreamSynchronize(stream);
  return result ? driver->fail(error, result, "a graph of %zu launches cannot be made", launches.size()) : TUTTI_OK;
}

/// Of addresses and sizes that have changed.
CUresult CudaEngine::updateGraph() {
  for (uint32_t i = 0; i < launches.size(); ++i)
    if (CUresult result = driver->cuGraphExecKernelNodeSetParams(graph->exec, graph->nodes[i], &launches[i].what))
      return result;
  graph->isOld = false;
  return CUDA_SUCCESS;
}
} // namespace tutti::rt
