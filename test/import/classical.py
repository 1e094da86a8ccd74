# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about the domain ai.onnx.ml, and ops of the default domain that say the same."""
import numpy as np
from onnx import TensorProto, helper


def add_cases(case, node, rng, i64, f32):
    def ml(op, inputs, outputs="y", **attributes):
        return node(op, inputs, outputs, domain="ai.onnx.ml", **attributes)

    x = {"x": rng(3, 4)}
    signs = {"x": f32([[-3, 1, 2, 4], [0, 0, 0, 0], [-1, -2, 3, -3]])}
    whole = {"x": np.array([[1, 5, -2, 9], [2, 9, 0, 1]], np.int64)}
    w, b = rng(4, 3, seed=2), rng(3, seed=3)
    flat = [float(v) for v in w.T.flatten()]
    offset, scale = [float(v) for v in rng(4)], [float(v) for v in rng(4, seed=5)]
    case("ml-scaler~op", 18, [ml("Scaler", "x", offset=offset, scale=scale)], x)
    case("ml-scaler~spelled", 18, [node("Sub", "x o", "d"), node("Mul", "d s")], x, {"o": f32(offset), "s": f32(scale)})
    case("ml-scaler-integers", 18, [ml("Scaler", "x", offset=[1.0], scale=[0.3])], whole)
    case("ml-scaler-double", 18, [ml("Scaler", "x", offset=offset, scale=scale)], {"x": rng(3, 4).astype(np.float64)})
    for norm in ("MAX", "L1", "L2"):
        case(f"ml-normalizer-{norm.lower()}", 18, [ml("Normalizer", "x", norm=norm)], {"x": abs(signs["x"])} if norm == "MAX" else signs)
    case("ml-normalizer~op", 18, [ml("Normalizer", "x", norm="L2")], x)
    case("ml-normalizer~spelled", 18, [node("LpNormalization", "x", axis=1)], x)
    case("ml-normalizer-integers", 18, [ml("Normalizer", "x", norm="L1")], whole)
    case("ml-binarizer", 18, [ml("Binarizer", "x", threshold=0.25)], x)
    case("ml-binarizer-integers", 18, [ml("Binarizer", "x", threshold=0.5)], whole)
    case("ml-binarizer-beyond-integers", 18, [ml("Binarizer", "x", threshold=1e30)], whole)
    case("ml-binarizer-below-integers", 18, [ml("Binarizer", "x", threshold=-1e30)], whole)
    gaps = {"x": f32([[1, np.nan, 3, 0], [np.nan, 2, 0, np.nan]])}
    case("ml-imputer", 18, [ml("Imputer", "x", imputed_value_floats=[7.0, 8.0, 9.0, 10.0], replaced_value_float=float("nan"))], gaps)
    case("ml-imputer-one", 18, [ml("Imputer", "x", imputed_value_floats=[7.0])], signs)
    case("ml-imputer-integers", 18, [ml("Imputer", "x", imputed_value_int64s=[7, 8, 9, 10], replaced_value_int64=9)], whole)
    case("ml-regressor~op", 18, [ml("LinearRegressor", "x", coefficients=flat, intercepts=[float(v) for v in b], targets=3)], x)
    case("ml-regressor~gemm", 18, [node("Gemm", "x w b")], x, {"w": w, "b": b})
    case("ml-regressor-softmax~op", 18, [ml("LinearRegressor", "x", coefficients=flat, intercepts=[float(v) for v in b], targets=3, post_transform="SOFTMAX")], x)
    case("ml-regressor-softmax~spelled", 18, [node("Gemm", "x w b", "z"), node("Softmax", "z")], x, {"w": w, "b": b})
    case("ml-regressor-plain", 18, [ml("LinearRegressor", "x", coefficients=flat[:4])], x)
    for after in ("NONE", "LOGISTIC", "SOFTMAX"):
        case(f"ml-classifier-{after.lower()}", 18, [ml("LinearClassifier", "x", "label y", classlabels_ints=[0, 1, 2], coefficients=flat, intercepts=[float(v) for v in b],
                                                       post_transform=after, multi_class=1)], x, outputs="label y")
    case("ml-classifier-labels", 18, [ml("LinearClassifier", "x", "label y", classlabels_ints=[7, -1, 3], coefficients=flat, intercepts=[0.0, 0.5, -0.5])], x, outputs="label y")
    case("ml-classifier-one-row", 18, [ml("LinearClassifier", "x", "label y", classlabels_ints=[3, 8], coefficients=flat[:4], intercepts=[0.1], post_transform="LOGISTIC")], x,
         outputs="label y")
    case("ml-extractor", 18, [ml("ArrayFeatureExtractor", "x p")], x, {"p": i64(2, 0, 3)})
    case("ml-extractor-of-labels", 18, [node("ArgMax", "x", "a", axis=1), ml("ArrayFeatureExtractor", "l a")], x, {"l": i64(4, 8, 1, 9)})
    case("ml-vectorizer", 18, [node("Neg", "x", "m"), ml("FeatureVectorizer", "x m", inputdimensions=[4, 4])], x)
    case("ml-vectorizer-integers", 18, [ml("FeatureVectorizer", "x x", inputdimensions=[4, 4])], whole)
    case("ml-one-hot", 18, [ml("OneHotEncoder", "x", cats_int64s=[1, 2, 9])], whole)
    case("ml-one-hot-of-floats", 18, [ml("OneHotEncoder", "x", cats_int64s=[1, 2, 9], zeros=1)], {"x": f32([[1, 2.7, -2], [9.5, 3, 1]])})
    case("ml-labels-int-int", 18, [ml("LabelEncoder", "x", keys_int64s=[1, 2, 5], values_int64s=[10, 20, 50])], whole)
    case("ml-labels-int-float", 18, [ml("LabelEncoder", "x", keys_int64s=[1, 9], values_floats=[0.1, float("inf")], default_float=-3.0)], whole)
    case("ml-labels-float-int", 18, [ml("LabelEncoder", "x", keys_floats=[1.0, 3.0, float("nan")], values_int64s=[10, 30, 7], default_int64=4)], gaps)
    table = {"keys_tensor": helper.make_tensor("k", TensorProto.INT64, [2], [1, 5]), "values_tensor": helper.make_tensor("v", TensorProto.DOUBLE, [2], [0.5, 2.5]),
             "default_tensor": helper.make_tensor("d", TensorProto.DOUBLE, [1], [-1.5])}
    case("ml-labels-nan", 18, [ml("LabelEncoder", "x", keys_floats=[1.0, float("nan"), 3.0], values_int64s=[10, 7, 30], default_int64=4)], gaps)
    case("ml-labels-tensors", 18, [ml("LabelEncoder", "x", **table)], whole)
    vectors = [float(v) for v in rng(5, 4, seed=7).flatten()]
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        case(f"ml-svm-{kernel.lower()}", 18, [ml("SVMRegressor", "x", n_supports=5, support_vectors=vectors, coefficients=[0.5, -1.0, 0.25, 2.0, -0.75], rho=[0.3],
                                                 kernel_type=kernel, kernel_params=[0.3, 0.5, 3.0])], x)
    case("ml-svm-one-class", 18, [ml("SVMRegressor", "x", n_supports=5, support_vectors=vectors, coefficients=[0.5, -1.0, 0.25, 2.0, -0.75], rho=[-0.3], kernel_type="RBF",
                                     kernel_params=[0.3, 0.0, 0.0], one_class=1)], x)
    # Votes: decisions between each two classes, and what becomes of them.
    def votes(name, per_class, labels, kernel="RBF", **more):
        count, classes = sum(per_class), len(per_class)
        random = np.random.default_rng(len(per_class))
        numbers = lambda n, scale=1.0: [float(np.float32(v)) for v in random.normal(0, scale, n)]
        pairs = classes * (classes - 1) // 2
        if more.pop("probabilities", False):
            more |= {"prob_a": [-abs(a) - 0.5 for a in numbers(pairs)], "prob_b": numbers(pairs, 0.2)}
        case(f"ml-votes-{name}", 18, [ml("SVMClassifier", "x", "label y", classlabels_ints=labels, vectors_per_class=per_class, support_vectors=numbers(count * 4),
                                         coefficients=numbers(count * (classes - 1), 2.0), rho=numbers(pairs, 0.3), kernel_type=kernel, kernel_params=[0.3, 0.5, 3.0], **more)],
             x, outputs="label y")
    votes("two", [3, 2], [0, 1])
    votes("three", [2, 3, 1], [7, -1, 3], "POLY")
    votes("four", [1, 4, 2, 3], [0, 1, 2, 3], "LINEAR")
    votes("two-probabilities", [3, 2], [0, 1], probabilities=True)
    votes("three-probabilities", [2, 3, 1], [5, 6, 9], "SIGMOID", probabilities=True)
    votes("five-probabilities", [2, 3, 1, 2, 2], [0, 1, 2, 3, 4], probabilities=True)
    # Of two classes without vectors ONNX Runtime, which wants parameters of a kernel that there is not, takes the second one for any score above 0.
    for classes, more in ((2, {}), (3, {"kernel_params": [0.0, 0.0, 0.0]})):
        case(f"ml-votes-linear-{classes}", 18, [ml("SVMClassifier", "x", "label y", classlabels_ints=[4, 2, 8][:classes], coefficients=flat[:4 * classes], rho=[0.2],
                                                   kernel_type="LINEAR", **more)], x, outputs="label y")
