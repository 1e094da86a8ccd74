// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why the other ONNX ops are not imported, and what to do about it.
#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {
namespace {

struct Group {
  const char *reason, *advice;
  llvm::ArrayRef<const char *> ops;
};

constexpr const char *convolution[] = {"Col2Im", "DeformConv"};
constexpr const char *pooling[] = {"GlobalLpPool", "LpPool", "MaxRoiPool", "MaxUnpool"};
constexpr const char *attention[] = {"CausalConvWithState", "LinearAttention", "TensorScatter"};
constexpr const char *optionals[] = {"Optional", "OptionalGetElement", "OptionalHasElement"};
constexpr const char *strings[] = {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit",
                                   "TfIdfVectorizer"};
constexpr const char *images[] = {"AffineGrid", "CenterCropPad", "GridSample", "ImageDecoder", "RoiAlign"};
constexpr const char *random[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                  "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
constexpr const char *bits[] = {"BitCast"};
constexpr const char *filters[] = {"MelWeightMatrix"};
constexpr const char *training[] = {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"};
constexpr const char *dataDependent[] = {"NonMaxSuppression"};
constexpr const char *algebra[] = {"Det"};
constexpr const char *trees[] = {"ai.onnx.ml::TreeEnsemble", "ai.onnx.ml::TreeEnsembleClassifier",
                                 "ai.onnx.ml::TreeEnsembleRegressor"};
constexpr const char *maps[] = {"ai.onnx.ml::CastMap", "ai.onnx.ml::DictVectorizer", "ai.onnx.ml::ZipMap"};
constexpr const char *categories[] = {"ai.onnx.ml::CategoryMapper"};

const Group groups[] = {
    {"convolutions of this kind are not supported yet", "a dense network of the same function can be compiled",
     convolution},
    {"pooling of this kind is not supported yet",
     "write it with Reshape and a reduction where the windows do not overlap", pooling},
    {"it is not supported as one op yet", "export the model with its products and moves spelled out", attention},
    {"optionals are not supported", "export the model with tensors alone", optionals},
    {"strings are not supported", "do it before the model, which then takes numbers", strings},
    {"resampling of images is not supported yet", "do it before the model", images},
    {"random numbers are not supported yet", "export the model for inference, or make them an input", random},
    {"bits read as another type are not supported", "do it before the model", bits},
    {"filters of signals are not supported", "make the matrix an initializer", filters},
    {"it is an op of training", "export the model for inference", training},
    {"the size of its output depends on data", "do it after the model", dataDependent},
    {"linear algebra is not supported", "do it after the model", algebra},
    {"trees are not dense: each row takes a path of its own through their nodes",
     "a dense network of the same function can be compiled", trees},
    {"maps from labels to numbers are not supported",
     "export the model with tensors alone (options={'zipmap': False} of skl2onnx's to_onnx)", maps},
    {"strings are not supported", "encode strings as integers before the model", categories},
};

/// Whether a domain is ONNX Runtime's, including that of blocked channels.
bool isRuntimes(llvm::StringRef domain) {
  return domain.consume_front(runtimeDomain) && (domain.empty() || domain.starts_with("."));
}

} // namespace

Why whyNot(llvm::StringRef qualified) {
  for (const Group &group : groups)
    if (llvm::is_contained(group.ops, qualified))
      return {group.reason, group.advice};
  if (auto [domain, name] = qualified.rsplit("::"); !name.empty() && isRuntimes(domain))
    return {
        "this op of ONNX Runtime's own is not supported",
        "export the model with standard ONNX ops; where ONNX Runtime has optimized it, ORT_ENABLE_BASIC leaves them"};
  else if (!name.empty() && domain != mlDomain)
    return {"ops of the domain " + quote(domain) + " are not supported", "export the model with standard ONNX ops"};
  return {"no opset up to " + std::to_string(newestOpset) + " has an op of that name",
          "exporters leave an op of their framework's own as it is where they know none of ONNX: write the model "
          "without it"};
}

} // namespace tutti
