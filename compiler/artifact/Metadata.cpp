// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates the plan's words into the schema's.
#include "Metadata.h"
#include "Extents.h"
#include "Footprint.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"

#include "runtime/schema/Format.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;

namespace tutti {

std::vector<uint8_t> digestBytes(uint64_t digest) {
  std::vector<uint8_t> bytes(8);
  std::memcpy(bytes.data(), &digest, 8);
  return bytes;
}

namespace {

std::vector<WeightLayout::Use> programsOf(ArrayRef<ProgramCode> codes) {
  std::vector<WeightLayout::Use> programs;
  for (const ProgramCode &code : codes)
    programs.push_back({programOf(code.planned), code.ensemble});
  return programs;
}

class Filler {
public:
  Filler(Metadata &metadata, ArrayRef<ProgramCode> codes, const WriteOptions &options)
      : metadata(metadata), root(metadata.root), weights(metadata.weights), codes(codes), options(options) {}

  void fill() {
    root.format = rt::kFormatVersion;
    root.compiler = options.compiler;
    root.share = options.share;
    root.notes = options.notes;
    addMembers(*codes.front().ensemble);
    // Code first, in the order of the programs, then the weights.
    for (const ProgramCode &code : codes)
      for (const TargetImage &image : code.images)
        if (!llvm::is_contained(metadata.code, image.bytes)) {
          metadata.code.push_back(image.bytes);
          addSegment(fb::SegmentKind::code, image.bytes->size());
        }
    for (const auto &slot : weights.slots) {
      root.slots.push_back(std::make_unique<fb::SlotT>(*slot));
      root.slots.back()->segment = root.segments.size();
      if (!slot->perm_dims.empty())
        require(rt::kPermDims);
    }
    for (const ProgramCode &code : codes)
      fillProgram(code);
    addSegment(fb::SegmentKind::weights, weights.bytes());
    ModuleOp first = codes.front().planned, last = codes.back().planned;
    Precision precision = getPrecision(last);
    if (getTarget(first) != getTarget(last) && precision != Precision::f32 && precision != Precision::f32_ffma)
      root.notes.push_back(("the program for CPUs computes in float32, those for CUDA devices with " +
                            stringifyPrecision(precision) + " products")
                               .str());
  }

private:
  Metadata &metadata;
  fb::RootT &root;
  const WeightLayout &weights;
  ArrayRef<ProgramCode> codes;
  const WriteOptions &options;
  /// By class of targets and name: entries with equal launches are one kernel, with an image for each architecture.
  std::map<std::pair<Target, std::string>, SmallVector<std::pair<CudaLaunch, unsigned>>> known;
  std::set<std::string> names; ///< of kernels

  // State of the program that is being filled in.
  plan::ProgramOp program;
  std::optional<Extents> extents;
  /// A kernel as it may be launched, and its number in the artifact.
  struct NumberedKernel {
    const KernelCode *code;
    unsigned kernel;
  };
  std::map<std::vector<unsigned>, SmallVector<NumberedKernel>> kernels; ///< by the kernels of the module
  SmallVector<plan::KernelOp> ofModule;

  /// Adds a feature that an older runtime must not ignore.
  void require(std::string_view feature) {
    if (!llvm::is_contained(root.required_features, feature))
      root.required_features.emplace_back(feature);
  }

  void addMembers(const Ensemble &ensemble) {
    for (const Ensemble::Member &member : ensemble.members) {
      auto table = std::make_unique<fb::MemberT>();
      table->name = member.name;
      table->source = member.file;
      table->digest = digestBytes(member.digest);
      table->stream = root.members.size();
      root.members.push_back(std::move(table));
    }
    std::vector<std::vector<unsigned>> groups = ensemble.groups;
    if (groups.empty()) {
      groups.emplace_back();
      for (unsigned member = 0; member < ensemble.members.size(); ++member)
        groups.front().push_back(member);
    }
    for (const std::vector<unsigned> &members : groups) {
      auto group = std::make_unique<fb::GroupT>();
      group->members.assign(members.begin(), members.end());
      root.groups.push_back(std::move(group));
    }
  }

  void addSegment(fb::SegmentKind kind, uint64_t bytes) {
    auto segment = std::make_unique<fb::SegmentT>();
    segment->kind = kind;
    segment->lazy = kind == fb::SegmentKind::weights;
    segment->bytes = bytes;
    segment->digest.resize(8);
    root.segments.push_back(std::move(segment));
  }

  /// A unique name for a function. Code for other architectures that launches differently may have the same name; it
  /// then gets the first of its architectures as a suffix, as in the dumped text.
  std::string nameOf(const ProgramCode &code, const std::string &function) {
    std::string first = function, name = function;
    if (!code.architectures.empty() && names.contains(name))
      name = first = function + "." + code.architectures.front();
    for (unsigned i = 2; !names.insert(name).second; ++i)
      name = first + "." + std::to_string(i);
    return name;
  }

  unsigned kernelOf(const ProgramCode &code, const KernelCode &which) {
    auto &same = known[{getTarget(code.planned), which.name}];
    auto *entry = llvm::find_if(same, [&](auto &entry) { return entry.first == which.launch; });
    if (entry != same.end())
      return entry->second;
    auto table = std::make_unique<fb::KernelT>();
    table->name = nameOf(code, which.name);
    table->family = plan::stringifyFamily(ofModule[which.kernels.front()].getFamily()).str();
    for (unsigned kernel : which.kernels)
      ofModule[kernel].walk([&](NumericsOpInterface op) {
        llvm::raw_string_ostream stream(table->numerics);
        stream << (table->numerics.empty() ? "" : "; ") << op->getName().stripDialect() << " ";
        op.getNumericsAttr().printStripped(stream);
      });
    same.push_back({which.launch, unsigned(root.kernels.size())});
    root.kernels.push_back(std::move(table));
    return same.back().second;
  }

  void fillKernels(const ProgramCode &code) {
    kernels.clear();
    ofModule = llvm::to_vector(ModuleOp(code.planned).getOps<plan::KernelOp>());
    for (auto [place, which] : llvm::enumerate(code.kernels)) {
      unsigned number = kernelOf(code, which);
      for (const TargetImage &image : code.images) {
        if (llvm::any_of(root.kernels[number]->images,
                         [&](const auto &known) { return known->target == image.target; }))
          continue;
        auto entry = std::make_unique<fb::ImageT>();
        entry->target = image.target;
        entry->segment = llvm::find(metadata.code, image.bytes) - metadata.code.begin();
        entry->entry = which.name;
        const TargetImage::Kernel &kernel = image.kernels[place];
        entry->offset = kernel.offset;
        entry->bytes = kernel.bytes;
        entry->min_driver = image.minDriver;
        entry->regs = kernel.registers;
        entry->stack = kernel.stack;
        entry->static_shared = kernel.staticShared;
        entry->barriers = kernel.barriers;
        entry->max_threads = kernel.maxThreads;
        root.kernels[number]->images.push_back(std::move(entry));
      }
      kernels[which.kernels].push_back({&which, number});
    }
  }

  void fillProgram(const ProgramCode &code) {
    program = programOf(code.planned);
    extents.emplace(program);
    fillKernels(code);
    auto table = std::make_unique<fb::ProgramT>();
    table->entry = program.getSymName().str();
    table->devices = table->targets = {stringifyTarget(program.getTarget()).str()};
    llvm::append_range(table->targets, code.architectures);
    table->precision = stringifyPrecision(getPrecision(code.planned)).str();
    table->sets = code.ensemble->groups.empty() ? 1 : 1 + code.ensemble->groups.size();
    addSizes(*table);
    addMemory(*table);
    llvm::DenseMap<Value, unsigned> indices;
    for (auto buffer : program.getBody().getOps<plan::BufferOp>()) {
      indices[buffer.getResult()] = table->buffers.size();
      addBuffer(*table, buffer);
    }
    addSteps(*table, code, indices);
    root.programs.push_back(std::move(table));
  }

  /// Adds the sizes that a call has, and what depends on them alone.
  void addSizes(fb::ProgramT &table) {
    for (const std::string &symbol : extents->order()) {
      SizeRange range = *program.rangeOf(symbol);
      auto size = std::make_unique<fb::SizeT>();
      size->name = symbol;
      size->source = setOf(symbol);
      size->kind = isActiveName(symbol)        ? fb::SizeKind::active
                   : range.least == range.most ? fb::SizeKind::fixed
                                               : fb::SizeKind::range;
      size->lo = range.least;
      size->hi = range.most;
      table.sizes.push_back(std::move(size));
    }
    table.flops = std::make_unique<fb::ExtentT>();
    for (const Size &flops : program.getFlops().getValue())
      extents->add(*table.flops, flops);
    table.chunk = program.getChunk().value_or(0);
    if (table.chunk)
      require(rt::kPieces);
    if (std::optional<StringRef> axis = program.getStrips())
      table.strips = extents->indexOf(*axis);
  }

  void addMemory(fb::ProgramT &table) {
    table.arena.push_back(extents->of(Size(arenaBytes(program))));
    std::optional<Footprint> bytes = footprintOf(program, weights, codes.front().ensemble->members.size());
    if (!bytes)
      return;
    table.memory = std::make_unique<fb::MemoryT>();
    table.memory->weights = bytes->weights;
    table.memory->arena = bytes->arena;
    table.memory->state = bytes->state;
    table.memory->tables = bytes->tables;
    table.memory->inputs = bytes->inputs;
    table.memory->outputs = bytes->outputs;
    table.memory->scratch = bytes->scratch;
  }

  void addSteps(fb::ProgramT &table, const ProgramCode &code, const llvm::DenseMap<Value, unsigned> &indices) {
    std::map<Operation *, std::vector<std::unique_ptr<fb::LaunchT>>> ofStep;
    for (const DeviceLaunch &parts : code.launches) {
      Operation *parent = parts.front()->getParentOp();
      ofStep[isa<plan::ParallelOp>(parent) ? parent : parts.front()].push_back(launchTable(parts, indices));
    }
    for (Operation &op : program.getBody().front()) {
      auto step = ofStep.find(&op);
      if (step == ofStep.end())
        continue;
      if (step->second.size() == 1) {
        addStep(table, std::move(*step->second.front()));
      } else {
        fb::ParallelT together;
        together.launches = std::move(step->second);
        addStep(table, std::move(together));
      }
    }
  }

  static fb::Space spaceOf(plan::Space space) {
    switch (space) {
    case plan::Space::input:
      return fb::Space::input;
    case plan::Space::output:
      return fb::Space::output;
    case plan::Space::arena:
      return fb::Space::arena;
    case plan::Space::constant:
      return fb::Space::constant;
    case plan::Space::state:
      return fb::Space::state;
    }
    llvm_unreachable("every space is listed");
  }

  void addBuffer(fb::ProgramT &table, plan::BufferOp op) {
    auto buffer = std::make_unique<fb::BufferT>();
    buffer->space = spaceOf(op.getSpace());
    buffer->bytes = extents->of(*bytesOf(cast<RankedTensorType>(op.getType())));
    buffer->offset = extents->of(Size(op.getOffset()));
    buffer->whole = op.getWhole();
    if (op.getSpace() == plan::Space::constant)
      buffer->slot = weights.slotOf(op);
    if (plan::PortAttr port = op.getPortAttr()) {
      buffer->port = table.ports.size();
      buffer->align = 1;
      auto type = cast<RankedTensorType>(op.getType());
      auto entry = std::make_unique<fb::PortT>();
      entry->name = port.getName().str();
      entry->head = port.getHead().str();
      entry->per_member = isLifted(type);
      entry->buffer = table.buffers.size();
      entry->type = std::make_unique<fb::TypeT>();
      entry->type->dtype = dtypeOf(type.getElementType());
      for (const Size &size : getSizes(type))
        entry->type->dims.push_back(extents->of(size));
      table.ports.push_back(std::move(entry));
    }
    table.buffers.push_back(std::move(buffer));
  }

  /// The set whose length a size is: 0 for the active one, 1 + g for group g.
  static unsigned setOf(StringRef symbol) {
    std::optional<unsigned> group = groupOfActive(symbol);
    return group ? 1 + *group : 0;
  }

  template <typename Table> void setGeometry(Table &table, const DeviceLaunch &parts, const NumberedKernel &way) const {
    Extents::Grid grid = extents->gridOf(parts, way.code->launch);
    table.kernel = way.kernel;
    table.grid = std::move(grid.blocks);
    table.block = std::move(grid.block);
    table.cluster = std::move(grid.cluster);
    table.dynamic_shared = std::move(grid.shared);
    table.persistent = way.code->launch.persistent;
    if (const std::optional<rt::BlockCost> &cost = way.code->cost) {
      auto whole = [](double value) { return uint32_t(std::min<double>(std::ceil(value), UINT32_MAX)); };
      table.cost = std::make_unique<fb::CostT>();
      table.cost->rows = whole(cost->rows);
      table.cost->begin = whole(cost->begin);
      table.cost->alone = whole(cost->alone);
      table.cost->busy = whole(cost->busy);
      table.cost->l2 = whole(cost->l2);
      table.cost->row_alone = whole(cost->rowAlone);
      table.cost->row_busy = whole(cost->rowBusy);
    }
  }

  template <typename Command> static void addStep(fb::ProgramT &table, Command command) {
    auto step = std::make_unique<fb::StepT>();
    step->command.Set(std::move(command));
    table.steps.push_back(std::move(step));
  }

  std::unique_ptr<fb::LaunchT> launchTable(const DeviceLaunch &parts, const llvm::DenseMap<Value, unsigned> &indices) {
    auto table = std::make_unique<fb::LaunchT>();
    fb::LaunchT &launch = *table;
    std::vector<unsigned> numbers;
    for (plan::LaunchOp op : parts) {
      plan::KernelOp kernel = op.lookupKernel();
      unsigned set = setOf(kernel.membersSize());
      for (auto [index, buffer] : llvm::enumerate(op.getOperands())) {
        auto arg = std::make_unique<fb::ArgT>();
        arg->buffer = indices.lookup(buffer);
        arg->set = kernel.isPlaced(index) ? int(set) : -1;
        launch.args.push_back(std::move(arg));
      }
      launch.lifted |= kernel.getLifted();
      numbers.push_back(llvm::find(ofModule, kernel) - ofModule.begin());
      if (parts.size() == 1) {
        launch.set = set;
        launch.rows = extents->of(*kernel.rowCount());
        continue;
      }
      auto part = std::make_unique<fb::PartT>();
      part->args = op.getNumOperands();
      part->set = set;
      launch.parts.push_back(std::move(part));
    }
    plan::LaunchOp first = parts.front();
    launch.whole = first.getWhole();
    if (!launch.parts.empty())
      require(rt::kParts);
    ArrayRef<NumberedKernel> ways = kernels[numbers];
    if (program.getTarget() == Target::cuda) {
      setGeometry(launch, parts, ways.front());
      for (const NumberedKernel &way : ways.drop_front()) {
        auto alternative = std::make_unique<fb::AlternativeT>();
        setGeometry(*alternative, parts, way);
        launch.alternatives.push_back(std::move(alternative));
      }
    } else {
      launch.kernel = ways.front().kernel;
      plan::ScheduleAttr schedule = first.lookupKernel().getScheduleAttr();
      launch.row_tile_max = schedule.getTile();
      launch.row_quantum = schedule.getQuantum();
      launch.row_overhead = schedule.getOverhead();
      launch.scratch = schedule.getScratch();
    }
    return table;
  }
};

} // namespace

Metadata::Metadata(ArrayRef<ProgramCode> programs, const WriteOptions &options) : weights(programsOf(programs)) {
  Filler(*this, programs, options).fill();
}

std::string Metadata::bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Root::Pack(builder, &root), fb::RootIdentifier());
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

} // namespace tutti
