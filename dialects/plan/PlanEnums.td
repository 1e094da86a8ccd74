// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enums of the plan dialect, in a file of their own, as its ops also use enums that the tutti dialect declares.
#ifndef TUTTI_PLAN_ENUMS_TD
#define TUTTI_PLAN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tutti::plan";
  let genSpecializedAttr = 0;
}
def Plan_Family : Plan_Enum<"Family", "which emitter takes a kernel", [
    I32EnumAttrCase<"chain", 0>, I32EnumAttrCase<"row", 1>, I32EnumAttrCase<"element", 2>]>;
def Plan_Space : Plan_Enum<"Space", "what memory is for", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"output", 1>, I32EnumAttrCase<"arena", 2>, I32EnumAttrCase<"constant", 3>,
    I32EnumAttrCase<"state", 4>]>;
def Plan_Layout : Plan_Enum<"Layout", "how a weight lies (runtime/schema/Layout.h)", [
    I32EnumAttrCase<"raw", 0>, I32EnumAttrCase<"panels", 1>, I32EnumAttrCase<"matricesF32", 2, "matrices.f32">,
    I32EnumAttrCase<"matricesTf32", 3, "matrices.tf32">, I32EnumAttrCase<"matricesBf16", 4, "matrices.bf16">,
    I32EnumAttrCase<"matricesF16", 5, "matrices.f16">]>;

#endif
