// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unequal members: forms groups of equal ones, and makes their modules one.
#include "compiler/import/align/Groups.h"
#include "compiler/import/Limits.h"
#include "compiler/import/Member.h"
#include "compiler/import/align/Compare.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"

using namespace mlir;

namespace tutti {
namespace {

/// Where the names of a member's inputs or outputs differ from member 0's, so that their assignment is uncertain; empty
/// if it is certain. One name of a kind may differ: exporters name a result after the node that computes it.
std::string otherNames(const Ports &first, const Ports &own) {
  for (auto [what, theirs, mine] :
       {std::tuple("input", &first.all, &own.all), std::tuple("output", &first.outputs, &own.outputs)}) {
    int64_t others = 0;
    std::string where;
    for (auto [i, names] : llvm::enumerate(llvm::zip_equal(*theirs, *mine)))
      if (auto [before, name] = names; before != name && others++ == 0)
        where =
            (Twine(what) + " " + Twine(i) + ": it is called " + quote(name) + ", in member 0 " + quote(before)).str();
    if (others > 1)
      return where;
  }
  return "";
}

/// Groups members by their structure, in the order in which they came.
llvm::Expected<std::vector<std::vector<unsigned>>> partition(MLIRContext &context, ArrayRef<std::string> paths,
                                                             const ImportOptions &options, Ports &ports) {
  std::vector<std::vector<unsigned>> groups;
  std::vector<MemberModel> firsts;
  std::string renamed; // it must be matched by position, which requires one structure
  for (unsigned i = 0; i < paths.size(); ++i) {
    llvm::Expected<MemberModel> model = importMember(context, {paths[i], ""}, options, i ? &ports : nullptr, i);
    if (!model)
      return model.takeError();
    if (i == 0)
      ports = portsOf(*model);
    else if (llvm::Error error = compareOutputs(firsts.front(), *model, i))
      return std::move(error);
    if (std::string where = otherNames(ports, portsOf(*model)); renamed.empty() && !where.empty())
      renamed = "member " + std::to_string(i) + " (" + quote(paths[i]) + ") differs from member 0 (" + quote(paths[0]) +
                ") at " + where;
    unsigned group = 0;
    for (; group < groups.size(); ++group) {
      SmallVector<unsigned> constants; // align() makes these the members' own
      llvm::Error parts = compare(firsts[group], *model, i, /*areText=*/false, constants);
      bool equal = !parts;
      llvm::consumeError(std::move(parts));
      if (equal)
        break;
    }
    if (group == mostGroups)
      return fail(ExitCode::unsupported, "the members are more than " + llvm::Twine(mostGroups) +
                                             " groups of different structure: member " + llvm::Twine(i) + " (" +
                                             quote(paths[i]) + ") is of another one");
    if (group == groups.size()) {
      groups.emplace_back();
      firsts.push_back(std::move(*model));
    }
    groups[group].push_back(i);
  }
  if (groups.size() > 1 && !renamed.empty())
    return fail(ExitCode::unsupported,
                renamed +
                    "; of members of unequal structure one input and one output may be called otherwise, no more: "
                    "name them when exporting (input_names, output_names)");
  return groups;
}

/// The fewest groups: members either as they are, or keeping the numbers that spell their structure (Align.h). Each
/// group is aligned in the form that it needs.
llvm::Expected<std::vector<std::vector<unsigned>>> fewestGroups(MLIRContext &context, ArrayRef<std::string> paths,
                                                                const ImportOptions &options, Ports &ports) {
  auto groups = partition(context, paths, options, ports);
  if (groups && groups->size() == 1)
    return groups;
  for (Kept kept : {Kept::weights, Kept::constants}) {
    ImportOptions keeping = options;
    keeping.kept = kept;
    Ports again;
    auto other = partition(context, paths, keeping, again);
    if (!other) {
      llvm::consumeError(other.takeError());
    } else if (!groups || other->size() < groups->size()) {
      if (!groups)
        llvm::consumeError(groups.takeError());
      groups = std::move(other);
      ports = std::move(again);
    }
  }
  return groups;
}

/// Moves a group's function and parameters into `into`, as @main.GROUP and @GROUP.pN.
void moveInto(Ensemble &into, Ensemble &own, unsigned group) {
  std::string prefix = std::to_string(group) + ".";
  ModuleOp module = *own.module;
  SymbolTable symbols(module);
  for (auto param : llvm::make_early_inc_range(module.getOps<ParamOp>())) {
    std::string before = param.getSymName().str(), name = prefix + before;
    (void)symbols.rename(param, name); // no other symbol starts with a digit
    into.weights[name] = std::move(own.weights[before]);
    into.groupOf[name] = group;
    param->moveBefore(into.module->getBody(), into.module->getBody()->end());
  }
  for (const auto &[first, name] : own.computedWith)
    into.computedWith.emplace(group, name);
  func::FuncOp main = mainOf(module);
  main.setSymName("main." + std::to_string(group));
  main->moveBefore(into.module->getBody(), into.module->getBody()->end());
}

} // namespace

llvm::Expected<Ensemble> alignGroups(MLIRContext &context, ArrayRef<std::string> paths, const ImportOptions &options,
                                     const AlignOptions &given) {
  AlignOptions alignOptions = given;
  if (paths.empty())
    return align(context, paths, options, alignOptions);
  Ports ports;
  auto groups = fewestGroups(context, paths, options, ports);
  if (!groups)
    return groups.takeError();
  if (groups->size() == 1)
    return align(context, paths, options, alignOptions);
  Ensemble all;
  all.members.resize(paths.size());
  SmallVector<SmallVector<int64_t>> lists;
  for (auto [group, members] : llvm::enumerate(*groups)) {
    std::vector<std::string> own;
    for (unsigned member : members)
      own.push_back(paths[member]);
    alignOptions.ports = group ? &ports : nullptr; // the first group's ports are member 0's
    llvm::Expected<Ensemble> aligned = align(context, own, options, alignOptions);
    if (!aligned)
      return aligned.takeError();
    for (auto [member, described] : llvm::zip_equal(members, aligned->members))
      all.members[member] = described;
    if (group == 0) {
      all.module = std::move(aligned->module);
      all.weights = std::move(aligned->weights);
      all.computedWith = std::move(aligned->computedWith);
    } else {
      moveInto(all, *aligned, group);
    }
    lists.emplace_back(members.begin(), members.end());
  }
  all.groups = std::move(*groups);
  setMembers(*all.module, paths.size());
  setGroups(*all.module, llvm::to_vector_of<ArrayRef<int64_t>>(lists));
  return all;
}

} // namespace tutti
