// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks one program: sizes, ports, buffers and launches.
#include "Check.h"
#include "Geometry.h"
#include "Memory.h"

namespace tutti::rt {

namespace {
using ull = unsigned long long;

class ProgramChecker {
public:
  ProgramChecker(const fb::Root &root, const fb::Program &program, uint32_t index, tutti_error_t *error)
      : root(root), program(program), index(index), error(error) {}

  tutti_status_t run() {
    if (count(program.targets()) > kMaxImages)
      return bad("targets", 0, "are %u, expected at most %u", count(program.targets()), kMaxImages);
    if (auto status = sets())
      return status;
    if (auto status = sizes())
      return status;
    if (program.strips() && (program.strips() >= numSizes || program.chunk() || numSets(program) > 1 ||
                             program.sizes()->Get(program.strips())->kind() == fb::SizeKind::active))
      return bad("strips", 0, "go along size %u of %u", program.strips(), numSizes);
    if (!isSound(program.flops(), numSizes))
      return bad("flops", 0, "are no sound extent");
    if (count(program.arena()) > 0 && !atMost(program.arena()->Get(0), INT64_MAX, arena))
      return bad("arena", 0, "has no sound size");
    for (uint32_t i = 0; i < count(program.buffers()); ++i)
      if (auto status = buffer(*program.buffers()->Get(i), i))
        return status;
    if (count(program.ports()) > kMaxPorts)
      return bad("ports", 0, "are %u, expected at most %u", count(program.ports()), kMaxPorts);
    if (!names.allocate(count(program.ports())))
      return outOfMemory(error, "a list of ports", count(program.ports()) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count(program.ports()); ++i)
      if (auto status = port(*program.ports()->Get(i), i))
        return status;
    return forEachLaunch(program, [&](const fb::Launch &l, uint32_t i) { return launch(l, i); });
  }

private:
  [[gnu::format(printf, 4, 5)]] tutti_status_t bad(const char *what, uint32_t i, const char *format, ...) {
    char detail[256];
    va_list args;
    va_start(args, format);
    std::vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    return fail(error, TUTTI_MALFORMED, "malformed artifact: program %u, %s %u: %s", index, what, i, detail);
  }

  /// Whether the extent is sound, not negative at the smallest sizes, of a piece or a strip, too, and at most `limit`
  /// at the largest, its `value` there.
  bool atMost(const fb::Extent *extent, int64_t limit, int64_t &value) const {
    int64_t smallest;
    return isSound(extent, numSizes) && evaluate(extent, least, smallest) && smallest >= 0 &&
           evaluate(extent, hi, value) && value <= limit;
  }

  /// The active members, and of several groups each one's.
  tutti_status_t sets() {
    if (program.chunk() > count(root.members()))
      return bad("sets", 0, "run in pieces of %u members of %u", program.chunk(), count(root.members()));
    if (numSets(program) == 1)
      return TUTTI_OK;
    if (program.sets() != 1 + count(root.groups()))
      return bad("sets", 0, "are %u for %u groups", program.sets(), count(root.groups()));
    uint32_t members = count(root.members()), seen = 0;
    Array<bool> grouped;
    if (!grouped.allocate(members))
      return outOfMemory(error, "a list of members", members);
    for (uint32_t g = 0; g < count(root.groups()); ++g) {
      int64_t before = -1;
      for (uint32_t i = 0; i < count(root.groups()->Get(g)->members()); ++i, ++seen) {
        int64_t member = root.groups()->Get(g)->members()->Get(i);
        if (member <= before || member >= members || std::exchange(grouped[size_t(member)], true))
          return bad("set", g + 1, "has members that are not ascending, or are another's, or are not there");
        before = member;
      }
    }
    if (seen != members)
      return bad("sets", 0, "have %u members of %u", seen, members);
    return TUTTI_OK;
  }

  /// Bytes of a sound buffer at the largest sizes, in the arena those of a piece.
  int64_t largest(const fb::Buffer &b) {
    int64_t at[kMaxSizes], bytes = 0;
    std::copy(hi, hi + numSizes, at);
    for (uint32_t i = 0; i < numSizes; ++i)
      if (program.sizes()->Get(i)->kind() == fb::SizeKind::active && program.chunk() && b.space() == fb::Space::arena &&
          !b.whole())
        at[i] = std::min<int64_t>(hi[i], program.chunk());
    evaluate(b.bytes(), at, bytes);
    return bytes;
  }

  tutti_status_t sizes() {
    numSizes = count(program.sizes());
    if (numSizes < 1 || numSizes > kMaxSizes)
      return bad("sizes", 0, "are %u, expected 1 to %u", numSizes, kMaxSizes);
    for (uint32_t i = 0; i < numSizes; ++i) {
      const fb::Size &size = *program.sizes()->Get(i);
      lo[i] = size.lo();
      hi[i] = size.hi();
      bool ofSet = size.kind() == fb::SizeKind::active;
      if (size.kind() > fb::SizeKind::MAX || (i == 0 && !ofSet))
        return bad("size", i, "has kind %u; size 0 is the active set", unsigned(size.kind()));
      if (ofSet && i > 0 && (size.source() == 0 || size.source() >= numSets(program)))
        return bad("size", i, "is the length of set %u of %u", size.source(), numSets(program));
      if (ofSet && i > 0 && hi[i] > count(root.groups()->Get(size.source() - 1)->members()))
        return bad("size", i, "has up to %lld members of a group of %u", (long long)hi[i],
                   count(root.groups()->Get(size.source() - 1)->members()));
      if (lo[i] < (i == 0) || hi[i] < lo[i] || (size.kind() == fb::SizeKind::fixed && hi[i] != lo[i]))
        return bad("size", i, "runs from %lld to %lld", (long long)lo[i], (long long)hi[i]);
      bool isCut = (ofSet && (i == 0 || program.chunk())) || (program.strips() && i == program.strips());
      least[i] = isCut ? std::min<int64_t>(lo[i], ofSet && i > 0 ? 0 : 1) : lo[i];
    }
    if (hi[0] > count(root.members()))
      return bad("size", 0, "has up to %lld active members of %u", (long long)hi[0], count(root.members()));
    return TUTTI_OK;
  }

  /// The most active members that a set has.
  int64_t mostMembers(uint32_t set) const {
    for (uint32_t i = 1; set > 0 && i < numSizes; ++i)
      if (program.sizes()->Get(i)->kind() == fb::SizeKind::active && program.sizes()->Get(i)->source() == set)
        return hi[i];
    return hi[0];
  }

  bool isMultiple(const fb::Extent *extent, int64_t of) const {
    if (!extent)
      return true;
    for (uint32_t t = 0; t < count(extent->terms()); ++t)
      if (extent->terms()->Get(t)->coef() % of)
        return false;
    return extent->base() % of == 0;
  }

  tutti_status_t buffer(const fb::Buffer &b, uint32_t i) {
    int64_t bytes, offset, end;
    if (b.space() > fb::Space::MAX)
      return bad("buffer", i, "has space %u", unsigned(b.space()));
    if (!atMost(b.bytes(), INT64_MAX, bytes) || !atMost(b.offset(), INT64_MAX, offset) ||
        !checkedAdd(offset, bytes, end))
      return bad("buffer", i, "has no sound offset and size");
    switch (b.space()) {
    case fb::Space::arena:
      if (b.align() < 1 || b.align() > kPageBytes || (b.align() & (b.align() - 1)) ||
          !isMultiple(b.offset(), b.align()))
        return bad("buffer", i, "is not aligned to %u bytes", b.align());
      end = offset + largest(b);
      if (end > arena)
        return bad("buffer", i, "ends at byte %lld of an arena of %lld", (long long)end, (long long)arena);
      break;
    case fb::Space::constant:
      if (b.slot() < 0 || uint32_t(b.slot()) >= count(root.slots()))
        return bad("buffer", i, "is slot %d of %u", b.slot(), count(root.slots()));
      break;
    case fb::Space::input:
    case fb::Space::output:
      if (b.port() < 0 || uint32_t(b.port()) >= count(program.ports()) ||
          program.ports()->Get(uint32_t(b.port()))->buffer() != i)
        return bad("buffer", i, "is port %d of %u, which has another buffer", b.port(), count(program.ports()));
      break;
    case fb::Space::state:
      if (uint64_t(bytes) > kMaxMemory)
        return bad("buffer", i, "keeps %lld bytes from call to call", (long long)bytes);
      break;
    default:
      break;
    }
    return TUTTI_OK;
  }

  tutti_status_t port(const fb::Port &p, uint32_t i) {
    if (p.buffer() >= count(program.buffers()))
      return bad("port", i, "has buffer %u of %u", p.buffer(), count(program.buffers()));
    const fb::Buffer &b = *program.buffers()->Get(p.buffer());
    bool input = b.space() == fb::Space::input;
    if ((!input && b.space() != fb::Space::output) || uint32_t(b.port()) != i)
      return bad("port", i, "has buffer %u, which is not its own", p.buffer());
    if (!p.type() || p.type()->kind() != fb::ValueKind::tensor)
      return fail(error, TUTTI_UNSUPPORTED, "'%.80s' is a sequence or an optional, which this runtime cannot bind",
                  text(p.name()));
    if (p.type()->dtype() > fb::DType::MAX || bitsOf(p.type()->dtype()) == 0)
      return bad("port", i, "has element type %u", unsigned(p.type()->dtype()));
    uint32_t rank = count(p.type()->dims());
    if (rank > TUTTI_MAX_RANK || (p.per_member() && rank == 0))
      return bad("port", i, "has rank %u", rank);
    int64_t dims[TUTTI_MAX_RANK];
    for (uint32_t d = 0; d < rank; ++d)
      if (!atMost(p.type()->dims()->Get(d), INT64_MAX, dims[d]))
        return bad("port", i, "has no sound dimension %u", d);
    int64_t bytes;
    uint64_t dense;
    if (!denseBytes(p.type()->dtype(), dims, rank, dense))
      return bad("port", i, "has more bytes than can be counted");
    evaluate(b.bytes(), hi, bytes);
    if (b.bytes() && uint64_t(bytes) != dense)
      return bad("port", i, "has %llu bytes and a buffer of %lld", ull(dense), (long long)bytes);
    // By digests: to compare long names with each other would take forever.
    Digest digest;
    digest.update(view(p.name()).data(), view(p.name()).size());
    digest.update(input ? "<" : ">", 1);
    if (!input)
      digest.update(view(p.head()).data(), view(p.head()).size());
    names[i] = digest.finish();
    for (uint32_t j = 0; j < i; ++j) {
      if (names[j] != names[i])
        continue;
      const fb::Port &other = *program.ports()->Get(j);
      bool otherInput = program.buffers()->Get(other.buffer())->space() == fb::Space::input;
      if (otherInput == input && view(other.name()) == view(p.name()) &&
          (input || view(other.head()) == view(p.head())))
        return bad("port", i, "has the name and head of port %u, '%.80s'", j, text(p.name()));
    }
    return TUTTI_OK;
  }

  tutti_status_t launch(const fb::Launch &l, uint32_t i) {
    if (l.set() >= numSets(program))
      return bad("step", i, "runs over set %u of %u", l.set(), numSets(program));
    if (count(l.alternatives()) > kMaxAlternatives)
      return bad("step", i, "has %u alternatives, expected at most %u", count(l.alternatives()), kMaxAlternatives);
    for (uint32_t g = 0; g < numGeometries(l); ++g)
      if (uint32_t kernel = geometryOf(l, g).kernel; kernel >= count(root.kernels()))
        return bad("step", i, "launches kernel %u of %u", kernel, count(root.kernels()));
    if (count(l.args()) > kMaxArgs)
      return bad("step", i, "has %u arguments, expected at most %u", count(l.args()), kMaxArgs);
    if (auto status = parts(l, i))
      return status;
    uint32_t part = 0, ends = count(l.parts()) ? l.parts()->Get(0)->args() : 0, set = l.set();
    for (uint32_t a = 0; a < count(l.args()); ++a) {
      const fb::Arg &arg = *l.args()->Get(a);
      if (count(l.parts())) {
        while (a >= ends)
          ends += l.parts()->Get(++part)->args();
        set = l.parts()->Get(part)->set();
      }
      if (arg.buffer() < -1 || arg.buffer() >= int64_t(count(program.buffers())))
        return bad("step", i, "has argument %u in buffer %d of %u", a, arg.buffer(), count(program.buffers()));
      if (arg.size() < -1 || arg.size() >= int64_t(numSizes))
        return bad("step", i, "has argument %u with size %d of %u", a, arg.size(), numSizes);
      int64_t offset, bytes = 0;
      if (arg.buffer() >= 0) {
        const fb::Buffer &b = *program.buffers()->Get(uint32_t(arg.buffer()));
        evaluate(b.bytes(), hi, bytes);
        if (l.whole() && bytes != largest(b))
          return bad("step", i, "runs for all members, but its argument %u is a piece's", a);
        bytes = largest(b);
      }
      bool isOwn = arg.buffer() >= 0 && (spaceOf(arg) == fb::Space::arena || spaceOf(arg) == fb::Space::state);
      if (!atMost(arg.offset(), arg.offset() && isOwn ? bytes : 0, offset))
        return bad("step", i, "has argument %u outside its buffer", a);
      if (auto status = table(set, arg, i, a))
        return status;
    }
    int64_t rows;
    if (!atMost(l.rows(), INT64_MAX / 2, rows)) // kernels count rows in 64 bits
      return bad("step", i, "has no sound number of rows");
    if (!isForCuda(program))
      return tiles(l, rows, i);
    if (int64_t bytes = 8 * (int64_t(count(l.args())) + numSizes); bytes > kMaxParameterBytes)
      return bad("step", i, "has %lld bytes of parameters, expected at most %lld", (long long)bytes,
                 (long long)kMaxParameterBytes);
    for (uint32_t g = 0; g < numGeometries(l); ++g) {
      Geometry geometry = geometryOf(l, g);
      if (auto status = blocks(geometry, i))
        return status;
      if (geometry.cost.has_value() != geometryOf(l, 0).cost.has_value())
        return bad("step", i, "has a cost for some of its geometries, expected one for all or for none");
      if (geometry.persistent && (count(geometry.cluster) || count(l.parts())))
        return bad("step", i, "is persistent, and has %u parts and a cluster of %u numbers, expected none",
                   count(l.parts()), count(geometry.cluster));
    }
    return TUTTI_OK;
  }

  fb::Space spaceOf(const fb::Arg &arg) const { return program.buffers()->Get(uint32_t(arg.buffer()))->space(); }

  /// The parts of a launch share out its arguments.
  tutti_status_t parts(const fb::Launch &l, uint32_t i) {
    if (!count(l.parts()))
      return TUTTI_OK;
    if (!isForCuda(program) || l.set())
      return bad("step", i, "has parts on a CPU, or over set %u", l.set());
    uint64_t args = 0;
    for (uint32_t part = 0; part < count(l.parts()); ++part) {
      args += l.parts()->Get(part)->args();
      if (uint32_t set = l.parts()->Get(part)->set(); set >= numSets(program))
        return bad("step", i, "has a part over set %u of %u", set, numSets(program));
    }
    if (args != count(l.args()))
      return bad("step", i, "has parts of %llu arguments in all, expected %u", ull(args), count(l.args()));
    return TUTTI_OK;
  }

  /// A table has an address for each member of the set that a launch, or its part, runs over.
  tutti_status_t table(uint32_t set, const fb::Arg &arg, uint32_t i, uint32_t a) {
    const fb::Buffer *b = arg.buffer() < 0 ? nullptr : program.buffers()->Get(uint32_t(arg.buffer()));
    const fb::Slot *slot = b && b->space() == fb::Space::constant ? root.slots()->Get(uint32_t(b->slot())) : nullptr;
    if (arg.set() >= 0 && (uint32_t(arg.set()) != set || slot || arg.offset()))
      return bad("step", i, "has argument %u over set %d, which it cannot be", a, arg.set());
    if (slot && slot->per_member() && setOf(program, *slot) != set)
      return bad("step", i, "runs over set %u, but the members of its argument %u are set %u", set, a,
                 setOf(program, *slot));
    return TUTTI_OK;
  }

  /// What a CUDA device launches.
  tutti_status_t blocks(const Geometry &g, uint32_t i) {
    if (count(g.grid) != 3 || count(g.block) != 3 || (count(g.cluster) != 0 && count(g.cluster) != 3))
      return bad("step", i, "has a grid of %u, a block of %u and a cluster of %u numbers, expected 3, 3 and 0 or 3",
                 count(g.grid), count(g.block), count(g.cluster));
    int64_t threads = 1, blocks = 1, extent;
    for (uint32_t d = 0; d < 3; ++d) {
      if (!atMost(g.grid->Get(d), kMaxGrid[d], extent))
        return bad("step", i, "has a grid that leaves 0 to %lld in dimension %u", (long long)kMaxGrid[d], d);
      if (g.block->Get(d) < 1 || g.block->Get(d) > kMaxBlock[d])
        return bad("step", i, "has a block of %u threads in dimension %u", g.block->Get(d), d);
      threads *= g.block->Get(d);
      if (!count(g.cluster))
        continue;
      int64_t cluster = g.cluster->Get(d);
      if (cluster < 1 || cluster > kMaxCluster || !isMultiple(g.grid->Get(d), cluster))
        return bad("step", i, "has clusters of %lld blocks in dimension %u, which do not fill its grid",
                   (long long)cluster, d);
      blocks *= cluster;
    }
    if (threads > kMaxBlockThreads || blocks > kMaxCluster)
      return bad("step", i, "has blocks of %lld threads in clusters of %lld, expected at most %lld and %lld",
                 (long long)threads, (long long)blocks, (long long)kMaxBlockThreads, (long long)kMaxCluster);
    int64_t shared;
    if (!atMost(g.dynamicShared, kMaxShared, shared))
      return bad("step", i, "wants more than %lld bytes of shared memory", (long long)kMaxShared);
    return TUTTI_OK;
  }

  /// What a CPU's threads share.
  tutti_status_t tiles(const fb::Launch &l, int64_t rows, uint32_t i) {
    if (l.row_quantum() < 1 || l.row_tile_max() < l.row_quantum())
      return bad("step", i, "has tiles of %u to %u rows", l.row_quantum(), l.row_tile_max());
    if (l.scratch() > kMaxScratch)
      return bad("step", i, "wants %llu bytes of scratch, expected at most %llu", ull(l.scratch()), ull(kMaxScratch));
    int64_t tasks; // counted in 64 bits, too
    if (i != tasksOf)
      tasksSoFar = 0, tasksOf = i;
    if (!checkedMul(l.lifted() ? mostMembers(l.set()) : 1, divideCeil(rows, l.row_quantum()), tasks) ||
        !checkedAdd(tasksSoFar, tasks, tasksSoFar) || tasksSoFar > kMaxTasks)
      return bad("step", i, "has more tasks than %lld", (long long)kMaxTasks);
    return TUTTI_OK;
  }

  const fb::Root &root;
  const fb::Program &program;
  uint32_t index;
  tutti_error_t *error;
  uint32_t numSizes = 0;
  int64_t lo[kMaxSizes] = {}, hi[kMaxSizes] = {};
  int64_t least[kMaxSizes] = {}; ///< of a piece of the members, or a strip of the rows
  int64_t arena = 0;
  Array<uint64_t> names;  ///< digests of the ports'
  int64_t tasksSoFar = 0; ///< of the launches of step `tasksOf`
  uint32_t tasksOf = 0;
};
} // namespace

tutti_status_t checkProgram(const fb::Root &root, const fb::Program &program, uint32_t index, tutti_error_t *error) {
  return ProgramChecker(root, program, index, error).run();
}

bool isForCuda(const fb::Program &program) {
  for (uint32_t i = 0; i < count(program.targets()); ++i)
    if (std::string_view target = view(program.targets()->Get(i)); target == "cuda" || target == "emulated")
      return true;
  return false;
}

tutti_status_t checkRunnable(const fb::Program &program, tutti_error_t *error) {
  for (uint32_t i = 0; i < count(program.sizes()); ++i)
    if (program.sizes()->Get(i)->kind() >= fb::SizeKind::from_device)
      return fail(error, TUTTI_UNSUPPORTED, "size '%.80s' depends on data, which this runtime cannot run",
                  text(program.sizes()->Get(i)->name()));
  for (uint32_t i = 0; i < count(program.steps()); ++i) {
    const fb::Step &step = *program.steps()->Get(i);
    if (!numLaunches(step))
      return fail(error, TUTTI_UNSUPPORTED, "step %u is a %s, which this runtime cannot run", i,
                  fb::EnumNameCommand(step.command_type()));
  }
  return forEachLaunch(program, [&](const fb::Launch &launch, uint32_t i) {
    for (uint32_t a = 0; a < count(launch.args()); ++a) {
      const fb::Arg &arg = *launch.args()->Get(a);
      const fb::Buffer *buffer = arg.buffer() < 0 ? nullptr : program.buffers()->Get(uint32_t(arg.buffer()));
      if (!buffer || buffer->space() == fb::Space::scratch || buffer->space() == fb::Space::host || buffer->device())
        return fail(error, TUTTI_UNSUPPORTED, "step %u has an argument %u that is no buffer of this device", i, a);
    }
    return TUTTI_OK;
  });
}

} // namespace tutti::rt
