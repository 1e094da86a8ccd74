// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The artifact's file.
#include "Writer.h"
#include "Weights.h"
#include "compiler/Error.h"
#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Target.h"

#include "Format.h"

#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace tutti {

namespace {

/// A file that exists under its name only once it is complete. A link to a file stays one; a device is written to, not replaced.
class NewFile {
public:
  explicit NewFile(StringRef given) : path(given) {
    struct stat status;
    bool device = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    llvm::SmallString<128> real;
    if (!device && !llvm::sys::fs::real_path(path, real))
      path = real.str();
    temporary = device ? path : path + ".tmp" + std::to_string(getpid());
  }
  ~NewFile() {
    if (descriptor < 0)
      return;
    close(descriptor);
    if (temporary != path)
      unlink(temporary.c_str());
  }
  llvm::Error create() {
    int flags = temporary == path ? 0 : O_CREAT | O_TRUNC;
    descriptor = open(temporary.c_str(), O_RDWR | O_CLOEXEC | flags, 0666);
    return descriptor < 0 ? failure() : llvm::Error::success();
  }
  llvm::Error write(uint64_t offset, const void *data, uint64_t bytes) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
      ssize_t done = pwrite(descriptor, from, bytes, offset);
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return failure();
      from += done;
      offset += done;
      bytes -= done;
    }
    return llvm::Error::success();
  }
  llvm::Error finish(uint64_t bytes) {
    if (temporary == path)
      return llvm::Error::success();
    bool written = ftruncate(descriptor, bytes) == 0;
    written &= close(std::exchange(descriptor, -1)) == 0;
    if (written && rename(temporary.c_str(), path.c_str()) == 0)
      return llvm::Error::success();
    llvm::Error error = failure();
    unlink(temporary.c_str());
    return error;
  }

private:
  llvm::Error failure() {
    return fail(ExitCode::resource, "cannot write '" + path + "': " + strerror(errno));
  }
  std::string path, temporary;
  int descriptor = -1;
};

std::vector<uint8_t> digestBytes(uint64_t digest) {
  std::vector<uint8_t> bytes(8);
  std::memcpy(bytes.data(), &digest, 8);
  return bytes;
}

std::vector<plan::ProgramOp> programsOf(ArrayRef<ProgramCode> codes) {
  std::vector<plan::ProgramOp> programs;
  for (const ProgramCode &code : codes)
    programs.push_back(*ModuleOp(code.planned).getOps<plan::ProgramOp>().begin());
  return programs;
}

class Metadata {
public:
  Metadata(const Ensemble &ensemble, ArrayRef<ProgramCode> codes, const WriteOptions &options)
      : ensemble(ensemble), codes(codes), options(options), weights(ensemble, programsOf(codes)) {
    fill();
  }

  fb::RootT root;
  const Ensemble &ensemble;
  ArrayRef<ProgramCode> codes;
  const WriteOptions &options;
  WeightLayout weights;

  std::string bytes() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb::Root::Pack(builder, &root), fb::RootIdentifier());
    return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  }

private:
  // Of the program that is being filled in.
  plan::ProgramOp program;
  std::vector<std::string> symbols;
  llvm::StringMap<unsigned> kernels; ///< of its module: their number there
  unsigned firstKernel = 0;          ///< of its module: the number in the artifact

  std::unique_ptr<fb::ExtentT> extent(const Size &size) {
    auto extent = std::make_unique<fb::ExtentT>();
    addTo(*extent, size);
    return extent;
  }
  void addTo(fb::ExtentT &extent, const Size &size) {
    if (size.isFixed()) {
      extent.base += size.getFixed();
      return;
    }
    auto term = std::make_unique<fb::TermT>();
    term->coef = size.getFactor();
    for (const std::string &symbol : size.getSymbols())
      term->sizes.push_back(llvm::find(symbols, symbol) - symbols.begin());
    extent.terms.push_back(std::move(term));
  }

  /// Enough tiles for so many rows; a block that has none ends at once. The rows are factor * a * b ...: a ceil_div of one symbol.
  std::unique_ptr<fb::ExtentT> tiles(const Size &rows, int64_t tile) {
    int64_t factor = rows.getFactor();
    if (rows.isFixed())
      return extent(Size(llvm::divideCeil(factor, tile)));
    auto result = extent(Size(rows));
    fb::TermT &term = *result->terms.front();
    term.coef = llvm::divideCeil(factor, tile);
    term.divs.assign(term.sizes.size(), 1);
    term.divs.front() = std::max<int64_t>(1, tile / factor);
    return result;
  }

  void fill() {
    root.format = rt::kFormatVersion;
    root.compiler = options.compiler;
    root.share = options.share;
    auto group = std::make_unique<fb::GroupT>();
    for (const Ensemble::Member &member : ensemble.members) {
      auto table = std::make_unique<fb::MemberT>();
      table->name = member.name;
      table->source = member.file;
      table->digest = digestBytes(member.digest);
      table->stream = root.members.size();
      group->members.push_back(root.members.size());
      root.members.push_back(std::move(table));
    }
    root.groups.push_back(std::move(group));
    // Code first, in the order of the programs, then the weights.
    for (const ProgramCode &code : codes)
      for (const TargetImage &image : code.images)
        addSegment(fb::SegmentKind::code, image.bytes.size());
    for (const auto &slot : weights.slots) {
      slot->segment = root.segments.size();
      root.slots.push_back(std::make_unique<fb::SlotT>(*slot));
    }
    unsigned segment = 0;
    for (const ProgramCode &code : codes) {
      fillProgram(code, segment);
      segment += code.images.size();
    }
    addSegment(fb::SegmentKind::weights, weights.bytes());
    for (const auto &table : root.programs)
      if (table->targets != root.programs.front()->targets && !StringRef(table->precision).starts_with("f32")) {
        root.notes.push_back("the program for CPUs computes in float32, those for CUDA devices with " + table->precision + " products");
        break;
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

  /// A program's kernels; image i lies in segment `first` + i.
  void fillKernels(const ProgramCode &code, unsigned first) {
    kernels.clear();
    firstKernel = root.kernels.size();
    unsigned index = 0;
    for (auto kernel : ModuleOp(code.planned).getOps<plan::KernelOp>()) {
      auto table = std::make_unique<fb::KernelT>();
      table->name = kernel.getSymName().str();
      table->family = kernel.getFamily().str();
      kernel.walk([&](Operation *op) {
        if (auto numerics = op->getAttrOfType<DictionaryAttr>("numerics")) {
          llvm::raw_string_ostream stream(table->numerics);
          stream << (table->numerics.empty() ? "" : "; ") << op->getName().stripDialect() << " " << numerics;
        }
      });
      for (auto [offset, image] : llvm::enumerate(code.images)) {
        auto entry = std::make_unique<fb::ImageT>();
        entry->target = image.target;
        entry->segment = first + offset;
        entry->entry = table->name;
        const TargetImage::Kernel &kernel = image.kernels[index];
        entry->offset = kernel.offset;
        entry->bytes = kernel.bytes;
        entry->min_driver = image.minDriver;
        entry->regs = kernel.registers;
        entry->stack = kernel.stack;
        entry->static_shared = kernel.staticShared;
        entry->barriers = kernel.barriers;
        entry->max_threads = kernel.maxThreads;
        table->images.push_back(std::move(entry));
      }
      root.kernels.push_back(std::move(table));
      kernels[kernel.getSymName()] = index++;
    }
  }

  void fillProgram(const ProgramCode &code, unsigned firstSegment) {
    program = *ModuleOp(code.planned).getOps<plan::ProgramOp>().begin();
    symbols = {"active"};
    for (NamedAttribute size : program.getSizes())
      if (size.getName() != "active")
        symbols.push_back(size.getName().str());
    fillKernels(code, firstSegment);
    auto table = std::make_unique<fb::ProgramT>();
    table->entry = program.getSymName().str();
    table->targets = {program.getTarget().str()};
    table->devices = table->targets;
    table->precision = precisionOf(code.planned).str();
    for (const std::string &symbol : symbols) {
      auto range = cast<DenseI64ArrayAttr>(program.getSizes().get(symbol)).asArrayRef();
      auto size = std::make_unique<fb::SizeT>();
      size->name = symbol;
      size->kind = symbol == "active" ? fb::SizeKind::active : range[0] == range[1] ? fb::SizeKind::fixed : fb::SizeKind::range;
      size->lo = range[0];
      size->hi = range[1];
      table->sizes.push_back(std::move(size));
    }
    table->sets = 1;
    table->flops = std::make_unique<fb::ExtentT>();
    for (Attribute flops : program.getFlops())
      addTo(*table->flops, *Size::parse(cast<StringAttr>(flops).getValue()));
    table->arena.push_back(extent(Size(program.getArena())));

    llvm::DenseMap<Value, unsigned> indices;
    for (Operation &op : program.getBody().front()) {
      if (auto buffer = dyn_cast<plan::BufferOp>(op)) {
        indices[buffer.getResult()] = table->buffers.size();
        addBuffer(*table, buffer);
      } else if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        addLaunch(*table, launch, indices, code);
      }
    }
    root.programs.push_back(std::move(table));
  }

  void addBuffer(fb::ProgramT &table, plan::BufferOp op) {
    static const llvm::StringMap<fb::Space> spaces = {{"input", fb::Space::input}, {"output", fb::Space::output},
        {"arena", fb::Space::arena}, {"constant", fb::Space::constant}, {"state", fb::Space::state}};
    auto buffer = std::make_unique<fb::BufferT>();
    buffer->space = spaces.lookup(op.getSpace());
    buffer->bytes = extent(*Size::parse(op.getBytes()));
    buffer->offset = extent(Size(op.getOffset()));
    if (op.getSpace() == "constant")
      buffer->slot = weights.slotOf(op);
    if (DictionaryAttr port = op.getPortAttr()) {
      buffer->port = table.ports.size();
      buffer->align = 1;
      auto type = cast<RankedTensorType>(op.getType());
      auto entry = std::make_unique<fb::PortT>();
      auto text = [&](StringRef key) { return isa_and_nonnull<StringAttr>(port.get(key)) ? cast<StringAttr>(port.get(key)).str() : ""; };
      entry->name = text("name");
      entry->head = text("head");
      entry->per_member = isLifted(type);
      entry->buffer = table.buffers.size();
      entry->type = std::make_unique<fb::TypeT>();
      entry->type->dtype = dtypeOf(type.getElementType());
      for (const Size &size : getSizes(type))
        entry->type->dims.push_back(extent(size));
      table.ports.push_back(std::move(entry));
    }
    table.buffers.push_back(std::move(buffer));
  }

  void addLaunch(fb::ProgramT &table, plan::LaunchOp op, const llvm::DenseMap<Value, unsigned> &indices, const ProgramCode &code) {
    fb::LaunchT launch;
    unsigned kernel = kernels.lookup(op.getKernel());
    launch.kernel = firstKernel + kernel;
    for (Value buffer : op.getBuffers()) {
      auto arg = std::make_unique<fb::ArgT>();
      arg->buffer = indices.lookup(buffer);
      launch.args.push_back(std::move(arg));
    }
    launch.lifted = op.getLifted();
    launch.rows = extent(*Size::parse(op.getRows()));
    if (program.getTarget() == "cuda") {
      const CudaLaunch &blocks = code.launches[kernel];
      launch.grid.push_back(tiles(*Size::parse(op.getRows()), blocks.rows));
      launch.grid.push_back(extent(op.getLifted() ? *Size::parse("active") : Size(1)));
      launch.grid.push_back(extent(Size(1)));
      launch.block = {uint32_t(blocks.threads), 1, 1};
      launch.dynamic_shared = extent(Size(blocks.sharedBytes));
    } else {
      launch.row_tile_max = op.getTile();
      launch.row_quantum = op.getQuantum();
      launch.row_overhead = op.getOverhead();
      launch.scratch = op.getScratch();
    }
    auto step = std::make_unique<fb::StepT>();
    step->command.Set(std::move(launch));
    table.steps.push_back(std::move(step));
  }
};

} // namespace

llvm::Error writeArtifact(llvm::StringRef path, const Ensemble &ensemble, ArrayRef<ProgramCode> programs, const WriteOptions &options) {
  Metadata metadata(ensemble, programs, options);
  auto &segments = metadata.root.segments;

  // Numbers have a fixed size in a FlatBuffer, so the metadata's length is known before the digests are.
  uint64_t metadataBytes = metadata.bytes().size();
  rt::FileHeader header{};
  std::memcpy(header.magic, rt::kMagic, sizeof(header.magic));
  header.version = rt::kFormatVersion;
  header.metadataOffset = rt::alignUp(sizeof(header), 64);
  header.codeOffset = rt::alignUp(header.metadataOffset + metadataBytes + 4096, rt::kPageBytes);
  uint64_t end = header.codeOffset;
  std::string code;
  auto next = segments.begin();
  for (const ProgramCode &program : programs)
    for (const TargetImage &image : program.images) {
      fb::SegmentT &segment = **next++;
      segment.offset = end;
      segment.digest = digestBytes(rt::xxh64(image.bytes.data(), image.bytes.size()));
      code += image.bytes;
      code.resize(rt::alignUp(code.size(), rt::kPageBytes), '\0');
      end = header.codeOffset + code.size();
    }
  header.codeBytes = code.size();
  header.codeDigest = rt::xxh64(code.data(), code.size());

  NewFile file(path);
  if (llvm::Error error = file.create())
    return error;
  if (llvm::Error error = file.write(header.codeOffset, code.data(), code.size()))
    return error;

  fb::SegmentT &weights = *segments.back();
  weights.offset = end;
  rt::Digest digest;
  uint64_t written = 0;
  static const char zeros[rt::kPageBytes] = {};
  auto pad = [&](uint64_t to) {
    for (; written < to; written += std::min<uint64_t>(to - written, sizeof(zeros)))
      digest.update(zeros, std::min<uint64_t>(to - written, sizeof(zeros)));
  };
  llvm::Error error = metadata.weights.forEachCopy([&](uint64_t offset, ArrayRef<char> bytes) {
    pad(offset);
    digest.update(bytes.data(), bytes.size());
    written += bytes.size();
    if (options.progress)
      options.progress(written, weights.bytes);
    return file.write(weights.offset + offset, bytes.data(), bytes.size());
  });
  if (error)
    return error;
  pad(weights.bytes);
  weights.digest = digestBytes(digest.finish());

  std::string text = metadata.bytes();
  header.metadataBytes = text.size();
  if (header.metadataOffset + text.size() > header.codeOffset)
    return fail(ExitCode::internal, "the metadata grew while it was written");
  header.metadataDigest = rt::xxh64(text.data(), text.size());
  header.fileBytes = weights.offset + weights.bytes;
  header.headerDigest = rt::digestOf(header);
  if (llvm::Error error = file.write(header.metadataOffset, text.data(), text.size()))
    return error;
  if (llvm::Error error = file.write(0, &header, sizeof(header)))
    return error;
  return file.finish(header.fileBytes);
}

} // namespace tutti
