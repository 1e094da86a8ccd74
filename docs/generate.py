# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference: the ops, the passes, the ONNX ops and the tools' flags, from td, the sources and the tools themselves.

    python3 docs/generate.py --build BUILD             writes the pages
    python3 docs/generate.py --build BUILD --check     writes nothing and fails where a page is not fresh
    python3 docs/generate.py --build BUILD --bounds F  writes the bounds of the ops' td entries to F, for tests to include

Types of results, forms over the member axis and kernel families are what tutti-opt makes of the ops' examples.
"""
from __future__ import annotations

import argparse
import difflib
import itertools
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPS = ROOT / "dialects" / "tutti" / "ops"
PLAN = ROOT / "dialects" / "plan" / "PlanOps.td"
PASSES = ROOT / "passes" / "Passes.td"
CODE_PASSES = ROOT / "compiler" / "codegen" / "Passes.td"
ONNX = ROOT / "compiler" / "import" / "onnx" / "ops"
TOOLS = ("tutti-compile", "tutti-run", "tutti-verify", "tutti-bench", "tutti-inspect")
HEAD = "<!-- Written by docs/generate.py from {source}: change that, then run ./dev docs. -->"

ATTRIBUTES = {
    "StrAttr": "a string", "I64Attr": "an integer", "F64Attr": "a number", "UnitAttr": "a flag", "TypeAttr": "a type",
    "DenseI64ArrayAttr": "a list of integers", "FlatSymbolRefAttr": "a symbol", "SymbolNameAttr": "a name",
    "ElementsAttr": "elements", "AffineMapArrayAttr": "a list of affine maps, one an operand", "StrArrayAttr": "a list of strings",
    "DictionaryAttr": "a dictionary",
}


class Tools:
    """What is asked: llvm-tblgen, and the tools of the build."""

    def __init__(self, build: Path):
        self.bin = build.resolve() / "bin"
        cache = (build / "CMakeCache.txt").read_text()
        prefix = Path(re.search(r"^MLIR_DIR:.*=(.*)$", cache, re.M).group(1)).parents[2]
        self.tblgen, self.include = prefix / "bin" / "llvm-tblgen", prefix / "include"

    def records(self, td: Path) -> dict:
        """Every record that a td file leads to."""
        return json.loads(subprocess.check_output(
            [self.tblgen, "--dump-json", "-I", ROOT, "-I", ROOT / "dialects", "-I", ROOT / "dialects" / "tutti", "-I", self.include, td]))

    def opt(self, text: str, *flags: str) -> str:
        run = subprocess.run([self.bin / "tutti-opt", *flags], input=text, capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(f"tutti-opt {' '.join(flags)} refuses\n{text}\n{run.stderr}")
        return run.stdout

    def help(self, tool: str) -> str:
        text = subprocess.run([self.bin / tool, "--help"], check=True, capture_output=True, text=True).stdout
        return text.replace(f"{self.bin / tool}", tool)


# ---------------------------------------------------------------------------------------------------------------------
# Records
# ---------------------------------------------------------------------------------------------------------------------

def listed(found: dict, td: Path, kind: str) -> list[dict]:
    """The definitions of a kind that stand in this very file, in its order."""
    own = [found[name] for name in found["!instanceof"].get(kind, []) if found[name]["!locs"]]
    own = [r for r in own if Path(r["!locs"][0].rsplit(":", 1)[0]).name == td.name]
    return sorted(own, key=lambda r: int(r["!locs"][0].rsplit(":", 1)[1]))


def prose(text: str) -> str:
    """A description as paragraphs, and lists of them. Its example is shown, checked, elsewhere."""
    paragraphs = re.split(r"\n\s*\n", textwrap.dedent(text.strip("\n")))
    items = (re.split(r"\n(?=- )", p) for p in paragraphs if not p.startswith("Example:"))
    return "\n\n".join("\n".join(" ".join(item.split()) for item in one) for one in items).strip()


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def kind_of(found: dict, name: str) -> str:
    """What an argument is, in words."""
    record = found[name]
    classes = record["!superclasses"]
    base = record.get("baseAttr") or {}
    if "OptionalAttr" in classes:
        return kind_of(found, base["def"]) + "; may be absent"
    if "DefaultValuedAttr" in classes:
        return kind_of(found, base["def"]) + f"; {record['defaultValue']} when absent"
    if "EnumAttr" in classes:
        cases = found[record["enum"]["def"]]["enumerants"]
        return "one of " + ", ".join(f"`{found[case['def']]['str']}`" for case in cases)
    if "Variadic" in classes:
        return kind_of(found, record["baseType"]["def"]) + "s, any number"
    if name in ATTRIBUTES:
        return ATTRIBUTES[name]
    if "TypeAttrBase" in classes or "TypeAttrOf" in classes:
        return "a type"
    if "Attr" in classes:
        return record["summary"]
    return {"Tutti_Tensor": "tensor", "Plan_Buffer": "buffer", "AnyType": "value", "FloatLike": "a float, or a vector or tensor of floats"}.get(name, record["summary"])


def arguments(found: dict, op: dict) -> list[str]:
    rows = [f"| `{name}` | {cell(kind_of(found, what['def']))} |" for what, name in op["arguments"]["args"]]
    return ["| | |", "|---|---|", *rows, ""] if rows else []


# ---------------------------------------------------------------------------------------------------------------------
# Examples
# ---------------------------------------------------------------------------------------------------------------------

def types_in(text: str) -> list[str]:
    """Types at the top level of a list."""
    parts, depth, at = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<[(") - (char in ">])" and text[i - 1] != "-")
        if char == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    return [part.strip() for part in [*parts, text[at:]] if part.strip()]


def module(example: str, members: str = "") -> str:
    """An example as a module: one op gets a function around it, whose arguments are the op's operands."""
    if "func.func" in example or example.startswith("tutti.param"):
        return example
    operands = list(dict.fromkeys(re.findall(r"%\w+", example.split("=", 1)[1])))
    types = types_in(example.rsplit(" : ", 1)[1].split(" -> ")[0]) if operands else []
    takes = ", ".join(f"{o}: {t}{members}" for o, t in zip(operands, types, strict=True))
    return f"func.func @main({takes}) {{\n  {example}\n  return\n}}\n"


def result_types(tools: Tools, text: str, ops: list[str]) -> list[str]:
    """The types of the results of these ops, in their order."""
    lines = [line for line in tools.opt(text, "--mlir-print-op-generic").splitlines() if '"tutti.' in line]
    return [next(line for line in lines[i:] if f'"tutti.{op}"' in line).rsplit(" -> ", 1)[1].strip() for i, op in enumerate(ops)]


def whole(tools: Tools, example: str, op: str, members: str) -> str:
    """The example as @main of a model of two members, its result the model's."""
    text = module(example, members)
    if "return\n" in text:
        [type_] = result_types(tools, text, [op])
        text = text.replace(") {\n", f") -> {type_} {{\n", 1).replace("return\n", f"return %y : {type_}\n")
    return "module attributes {tutti.members = 2 : i64} {\n" + text + "\n}\n"


def lifted(tools: Tools, example: str, op: str) -> list[str]:
    """What the ops are over the member axis, every operand the members' own."""
    text = tools.opt(whole(tools, example, op, " {tutti.per_member}"), "--tutti-vmap")
    return [" ".join(line.split()) for line in text.splitlines() if "= tutti." in line]


def families(tools: Tools, example: str, op: str) -> set[str]:
    flags = ("--tutti-vmap", "--tutti-parallel", "--tutti-decompose", "--tutti-compose", "--tutti-numerics",
             "--tutti-fuse")
    return set(re.findall(r'plan\.kernel @\S+ (\w+)', tools.opt(whole(tools, example, op, " {tutti.per_member}"), *flags)))


def check_round_trip(tools: Tools, text: str):
    once = tools.opt(text)
    if tools.opt(once) != once:
        raise SystemExit(f"tutti-opt prints another text for what it printed:\n{once}")


def mlir(lines: list[str]) -> list[str]:
    return ["```mlir", *lines, "```", ""]


def shown(tools: Tools, examples: list[tuple[str, str]]) -> list[str]:
    """Examples, each with its op's name, as the page has them. Those of one line are checked in one module."""
    wholes = [e for _, e in examples if "\n" in e or "=" not in e]
    for example in wholes:
        check_round_trip(tools, example)
    singles = [(op, e) for op, e in examples if e not in wholes]
    text = "".join(module(e).replace("@main", f"@f{i}") for i, (_, e) in enumerate(singles))
    check_round_trip(tools, text)
    types = result_types(tools, text, [op for op, _ in singles])
    noted = {e: e if type_ in e else f"{e}  // {type_}" for (_, e), type_ in zip(singles, types, strict=True)}
    lines = []
    for _, example in examples:
        lines += ["", *example.splitlines()] if "\n" in example and lines else noted.get(example, example).splitlines()
    return lines


# ---------------------------------------------------------------------------------------------------------------------
# Pages
# ---------------------------------------------------------------------------------------------------------------------

def ulps(text: str) -> str:
    return {"0": "exact", "0.5": "1/2 ULP"}.get(text, f"{text} ULP")


def pointwise(tools: Tools, title: str, ops: list[dict]) -> list[str]:
    """Ops that differ in their formula alone: a table, then how each is written."""
    lines = [f"### {title}", "", "| op | | elements | float32 | float64 |", "|---|---|---|---|---|"]
    for op in ops:
        lines.append(f"| `tutti.{op['opName']}` | {cell(op['summary'])} | {cell(op.get('elements', 'floats'))} | {op.get('bound') or ulps(op['ulps'])} | {ulps(op['ulps64'])} |")
    return [*lines, "", *mlir(shown(tools, [(op["opName"], e) for op in ops for e in op["examples"]]))]


def section(tools: Tools, found: dict, op: dict) -> list[str]:
    name, examples = op["opName"], op.get("examples") or []
    if name != "yield" and not examples or "Tutti_Op" in op["!superclasses"] and not op["lifts"]:
        raise SystemExit(f"the td entry of tutti.{name} lacks `lifts` or `examples` (TuttiDialect.td says what they are)")
    lines = [f"### `tutti.{name}`", "", f"*{op['summary']}*", ""]
    if op.get("description"):
        lines += [prose(op["description"]), ""]
    lines += arguments(found, op)
    if examples:
        lines += mlir(shown(tools, [(name, e) for e in examples]))
    if "Tutti_Op" not in op["!superclasses"] and not op.get("lifts"):
        return lines
    kinds = sorted(set().union(*(families(tools, e, name) for e in examples if "=" in e)))
    bound = op.get("bound", "").replace("TERMS", f"({op.get('terms')})") or ulps(op.get("ulps", "0"))
    lines += ["| | |", "|---|---|", f"| elements | {cell(op.get('elements', 'any'))} |", f"| over the member axis | {cell(op['lifts'])} |",
              f"| kernel families | {', '.join(kinds) if kinds else 'none: a view, or memory'} |", f"| bound | {cell(bound)} |", ""]
    after = [line for e in examples if "=" in e for line in lifted(tools, e, name)] if name not in ("constant", "head", "replicate") else []
    if after:
        lines += ["Over the member axis, of members that differ in every operand:", "", *mlir(after)]
    return lines


INTRO = """# Ops of the tutti dialect

```sh
cat > model.mlir <<'END'
func.func @main(%x: tensor<?x4xf32, #tutti.sizes<batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
  %y = tutti.tanh %x : tensor<?x4xf32, #tutti.sizes<batch>>
  return %y : tensor<?x4xf32, #tutti.sizes<batch>>
}
END
tutti-opt model.mlir                             # parses, verifies, prints
tutti-compile model.mlir -o model.tutti          # as a model of one member
```

What a member computes, in the stages `model` and `batched`, and inside kernels. One op stands for one function of whole tensors; a size
that a call decides is `?`, and the tensor's encoding names it: `tensor<?x784xf32, #tutti.sizes<batch>>`. [DESIGN.md](../DESIGN.md), section 5, says why
these ops and no others; [numerics.md](../numerics.md) fixes their bits.

- **elements**: the element types taken. *Floats* are f32, f64, f16 and bf16; *integers* i8 to i64 and ui8 to ui64.
- **over the member axis**: what the op becomes when its operands differ per member. The member axis is dimension 0, of size `active`.
- **kernel families**: who computes the examples in a compiled program. *chain*: products of rows with weights, and what lies between them;
  *row*: what goes along a row; *element*: anything else. In one kernel with others, an op joins their family.
- **bound**: how far a float32 result may be from the exact one of its operands. A ULP is a unit in the last place of the exact result, u is 2^-24; results of
  16-bit types are the float32 ones, rounded once; of sums in float64 u is 2^-53. The tests read the ULPs from where this page has them.

A type behind `//` is the result's, where it is another than the operands'. Each example goes through `tutti-opt` and back when this page is written or checked.
"""


def purpose_of(text: str) -> str:
    """What a file says of itself: the first sentence of the comment behind the licence."""
    comment = itertools.takewhile(lambda line: line.startswith("//"), text.splitlines()[1:])
    said = " ".join(line.removeprefix("//").strip() for line in comment)
    if not (end := re.search(r"\.(?= |$)", said)):
        raise SystemExit(f"a file's purpose has no end: {said}")
    return said[:end.start()] + "."


def ops_page(tools: Tools) -> str:
    lines = [HEAD.format(source="dialects/tutti/ops/*.td and dialects/plan/PlanOps.td"), INTRO]
    body = []
    for td in sorted(OPS.glob("*.td")):
        found = tools.records(td)
        ops = listed(found, td, "Op")
        plain = [op for op in ops if not {"Tutti_Unary", "Tutti_Binary", "Tutti_Function"} & set(op["!superclasses"])]
        body += [f"## {td.stem}", "", purpose_of(td.read_text()), ""]
        for title, kind in (("Of one operand", "Tutti_Unary"), ("Of two operands", "Tutti_Binary")):
            if some := [op for op in ops if kind in op["!superclasses"]]:
                body += pointwise(tools, title, some)
        if td.stem == "Elementwise":
            body += ["Operands broadcast as in NumPy. Over the member axis each is the same op; operands of lower rank get axes of length 1 behind the",
                     "member axis. Kernel families: element, or in registers behind a product of a chain and between the phases of a row.", ""]
        for op in plain:
            body += section(tools, found, op)
        if some := [op for op in ops if "Tutti_Function" in op["!superclasses"]]:
            body += pointwise(tools, "Functions in a body", some)
        lines.append(f"- **[{td.stem}](#{td.stem.lower()})**: " + ", ".join(f"`{op['opName']}`" for op in ops))
    found = tools.records(PLAN)
    ops = listed(found, PLAN, "Plan_Op")
    lines.append("- **[Plan](#plan)**, the dialect of the stages `kernels` and `planned`: " + ", ".join(f"`{op['opName']}`" for op in ops))
    body += ["## Plan", "", found["Plan_Dialect"]["summary"] + " What they look like: [passes.md](passes.md).", ""]
    for op in ops:
        body += [f"### `plan.{op['opName']}`", "", f"*{op['summary']}*", "", *([prose(op["description"]), ""] if op["description"] else []), *arguments(found, op)]
    return "\n".join([*lines, "", *body])


MODEL = """module attributes {tutti.members = 10 : i64, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param @trunk : tensor<8x4xf32>
  tutti.param per_member @w : tensor<4x2xf32>
  func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"})
      -> (tensor<?x2xf32, #tutti.sizes<batch>> {tutti.name = "y", tutti.heads = ["members", "mean"]}) {
    %trunk = tutti.get @trunk : tensor<8x4xf32>
    %t = tutti.contract %x, %trunk "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x4xf32>
    %h = tutti.relu %t : tensor<?x4xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<4x2xf32>
    %y = tutti.contract %h, %w "bk,kn->bn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x2xf32>
    return %y : tensor<?x2xf32, #tutti.sizes<batch>>
  }
}
"""


def about_pass(one: dict, level: str = "##") -> list[str]:
    lines = [f"{level} {one['argument']}", "", cell(one["summary"][0].upper() + one["summary"][1:]) + ".", ""]
    if one.get("description"):
        lines += [prose(one["description"]), ""]
    return lines


def code_passes(tools: Tools) -> list[str]:
    """Those over the code of kernels, which no stage shows."""
    found = tools.records(CODE_PASSES)
    passes = listed(found, CODE_PASSES, "PassBase")
    lines = ["## Over the code of kernels", "",
             "What the emitters of kernels have written goes through these, in this order: on a CUDA device `tutti-expand-math` alone, on a CPU all, of",
             "which AVX2 takes no instructions of AVX-512's. Their input is `func`, `scf`, `arith`, `math`, `vector` and `llvm`; `test/codegen` has an example of each.", "",
             *(f"- [`{one['argument']}`](#{one['argument']}): {cell(one['summary'])}" for one in passes), ""]
    for one in passes:
        lines += about_pass(one, "###")
        options = [found[option["def"]] for option in one["options"]]
        lines += [f"`{option['argument']}`: {option['description']}; {option['defaultValue']} when absent.\n" for option in options]
    return lines


def passes_page(tools: Tools) -> str:
    found = tools.records(PASSES)
    passes = listed(found, PASSES, "PassBase")
    lines = [HEAD.format(source="passes/Passes.td, compiler/codegen/Passes.td and tutti-opt"), "# Passes", "", "```sh", "cat > model.mlir <<'END'", *MODEL.splitlines(), "END",
             "tutti-opt model.mlir --tutti-vmap", "```", "",
             "In the order in which the compiler runs them; `tutti-opt` runs any of them by its flag, and `tutti-compile --dump-stages DIR` writes what it had",
             "after each stage. `--tutti-to-batched`, `-to-kernels` and `-to-planned` run all that lead to a stage from the one before it. Below, the model above (ten members, a trunk that they share, a layer of their own, the mean of their outputs) after each pass in turn,",
             "as `tutti-opt` prints it. [DESIGN.md](../DESIGN.md), section 4, has the contract of each stage.", "",
             *(f"- [`{one['argument']}`](#{one['argument']}): {cell(one['summary'])}" for one in passes), ""]
    text = tools.opt(MODEL)
    for one in passes:
        before, text = text, tools.opt(text, f"--{one['argument']}")
        lines += about_pass(one)
        lines += ["Nothing changes in this model.", ""] if before == text else mlir(text.rstrip().splitlines())
    return "\n".join(lines + code_passes(tools))


def tools_page(tools: Tools) -> str:
    lines = [HEAD.format(source="the tools' --help"), "# Tools", "", "```sh", "tutti-compile --help", "tutti help run        # the same as tutti-run --help", "```", "",
             "Flags as the tools print them. Two more are MLIR's own, with this project's dialects and passes: `tutti-opt` ([passes.md](passes.md); its `--help` lists",
             "MLIR's flags, too) and `tutti-lsp-server`, which an editor starts for `.mlir` files ([ops.md](ops.md)). Exit codes and messages: [errors.md](../errors.md).", ""]
    for tool in TOOLS:
        lines += [f"## {tool}", "", "```", *(line.rstrip() for line in tools.help(tool).strip().splitlines()), "```", ""]
    return "\n".join(lines)


def onnx_page() -> str:
    """The ops of the import's table, by the file that imports them; and those that have none, with the reason."""
    table = (ONNX / "Ops.def").read_text()
    plain, ml = ({name: int(since) for name, since in re.findall(rf"^{macro}\((\w+), (\d+),", table, re.M)} for macro in ("ONNX_(?:SEQUENCE_|WIDE_)?OP", "ONNX_ML_OP"))
    runtime = {f"com.microsoft::{name}": 1 for name in re.findall(r"^ONNX_RUNTIME_(?:WIDE_)?OP\((\w+),", table, re.M)}
    known = plain | ml | runtime
    oldest, newest, newest_ml = re.search(r"oldestOpset = (\d+), newestOpset = (\d+), newestMlOpset = (\d+)", (ONNX / "Ops.h").read_text()).groups()
    lines = [HEAD.format(source="compiler/import/onnx/ops"), "# ONNX ops", "", "```sh", "tutti-compile member_0.onnx --stop-after model     # what a model's ops become", "```", "",
             f"Ops of ONNX's default domain in the opsets {oldest} to {newest}, {len(plain)} of them, and {len(ml)} of the domain `ai.onnx.ml` in its opsets 1 to {newest_ml}, and {len(runtime)} of",
             f"those that ONNX Runtime's optimizer writes (`com.microsoft`); where an op is newer than opset {oldest}, the opset that brought it stands behind its name. Each becomes ops of the",
             "[tutti dialect](ops.md), by rules that see one member alone. Beside them: functions of the model, put in where they are used, the branch of an `If` whose condition is",
             "known (else both, of one shape, of which each call chooses), and the steps of a `Loop` or a `Scan` of a known length (at most 4096), or of a `SequenceMap`. Sequences of tensors are taken apart when the model is compiled: how many tensors they have and",
             "at which position one is read has to be known, and none is an input or an output of the model. An attribute or a form that is not taken is said when the model is compiled, together with all others: [errors.md](../errors.md#4-not-supported).", ""]
    left = set(known)
    for file in sorted(ONNX.glob("*.cpp")):
        text = file.read_text()
        own = sorted(n for n in left if re.search(rf"^void import{n.replace('com.microsoft::', 'Runtime')}\(|\b[A-Z_]+\({n}[,)]", text, re.M))
        left -= set(own)
        if own and file.stem != "Ops":
            purpose = re.sub(r"(,| and) of ", r"\1 ", purpose_of(text).removeprefix("Import of "))
            names = [f"`{n}`" + (f" ({known[n]})" if known[n] > int(oldest) else "") for n in own]
            lines += [f"**{file.stem}**: {purpose}", "", ", ".join(names), ""]
    if left:
        raise SystemExit(f"these ONNX ops are in the table and in no file: {sorted(left)}")
    missing = (ONNX / "Missing.cpp").read_text()
    groups = {name: re.findall(r'"([\w.:]+)"', body) for name, body in re.findall(r"constexpr const char \*(\w+)\[\] = \{(.*?)\};", missing, re.S)}
    lines += ["## Not taken", "", "| ops | why | what to do |", "|---|---|---|"]
    for reason, advice, name in re.findall(r'\{"([^"]*)",\s*"([^"]*)",\s*(\w+)\}', missing):
        lines.append(f"| {', '.join(f'`{op}`' for op in groups[name])} | {reason} | {advice} |")
    return "\n".join(lines)


def bounds(tools: Tools) -> str:
    """One line an op: what a float32 and a float64 result may be off by, in units of the last place."""
    lines = ["// Written by docs/generate.py from dialects/tutti/ops/*.td."]
    for td in sorted(OPS.glob("*.td")):
        for op in listed(tools.records(td), td, "Op"):
            if "ulps" in op:
                # The same text is a formula on the page and an expression here.
                terms = re.sub(r"\b\d+\b", r"\g<0>.", op.get("terms", ""))
                terms = f"[](double n) {{ return {terms}; }}" if terms else "nullptr"
                formula = "true" if op.get("bound") else "false"
                lines.append(f'{{"tutti.{op["opName"]}", {float(op["ulps"])}, {float(op["ulps64"])}, {formula}, {terms}}},')
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bounds", type=Path)
    args = parser.parse_args()
    tools = Tools(args.build)
    if args.bounds:
        args.bounds.write_text(bounds(tools) + "\n")
        return 0
    pages = {"ops.md": ops_page(tools), "passes.md": passes_page(tools), "tools.md": tools_page(tools), "onnx.md": onnx_page()}
    stale = 0
    for name, text in pages.items():
        path, text = ROOT / "docs" / "reference" / name, text.rstrip() + "\n"
        before = path.read_text() if path.exists() else ""
        if args.check and before != text:
            stale += 1
            sys.stderr.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), str(path), "now", n=0))
        elif not args.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if stale:
        print(f"{stale} pages of docs/reference are not fresh: run ./dev docs", file=sys.stderr)
    return stale > 0


if __name__ == "__main__":
    sys.exit(main())
