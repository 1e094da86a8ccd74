// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metadata with one thing in it changed, by name: sets and groups, pieces, slots, programs of several sizes; and the
// choice among programs.
#include "Probe.h"
#include "Seeds.h"
#include "core/Check.h"

#include <gtest/gtest.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

namespace {
namespace fb = tutti::fb;

class Changed : public testing::Test {
protected:
  /// The seed with `change` made to it, and its digests right.
  template <typename Change> static File changed(const std::string &seed, Change change) {
    File original = expand(seedNamed(seed));
    std::unique_ptr<fb::RootT> root = fb::UnPackRoot(original.data() + original.header().metadataOffset);
    change(*root);
    flatbuffers::FlatBufferBuilder b;
    b.Finish(fb::Root::Pack(b, root.get()), fb::RootIdentifier());
    uint64_t at = alignUp(original.size(), kLineBytes); // behind all else there is room
    File file(at + b.GetSize());
    std::memcpy(file.data(), original.data(), original.size());
    std::memcpy(file.data() + at, b.GetBufferPointer(), b.GetSize());
    file.header().metadataOffset = at;
    file.header().metadataBytes = b.GetSize();
    file.header().fileBytes = file.size();
    file.redigest();
    return file;
  }
  template <typename Change> static void refused(const std::string &seed, const std::string &why, Change change) {
    File file = changed(seed, change);
    tutti_artifact_t *artifact = nullptr;
    tutti_error_t error = {};
    EXPECT_EQ(tutti_artifact_open_memory(file.data(), file.size(), &artifact, &error), TUTTI_MALFORMED) << why;
    EXPECT_NE(std::string(error.message).find(why), std::string::npos) << error.message << ", expected: " << why;
    tutti_artifact_close(artifact);
  }
  template <typename Change> static void runs(const std::string &seed, Change change) {
    EXPECT_GT(exercise(changed(seed, change)).runs, 0);
  }
  static fb::LaunchT &launchOf(fb::ProgramT &program, size_t step) {
    fb::CommandUnion &command = program.steps[step]->command;
    fb::ParallelT *parallel = command.AsParallel();
    return parallel ? *parallel->launches[0] : *command.AsLaunch();
  }
  /// Bytes of a buffer at the largest sizes, of extents without divisors.
  static int64_t mostBytes(const fb::ProgramT &program, const fb::BufferT &buffer) {
    int64_t all = buffer.bytes->base;
    for (const auto &term : buffer.bytes->terms) {
      int64_t product = term->coef;
      for (uint32_t size : term->sizes)
        product *= program.sizes[size]->hi;
      all += product;
    }
    return all;
  }
  static std::unique_ptr<fb::ExtentT> number(int64_t base) {
    auto extent = std::make_unique<fb::ExtentT>();
    extent->base = base;
    return extent;
  }
};

TEST_F(Changed, nothing) {
  for (const std::string &name : seedNames(/*device=*/false))
    runs(name, [](fb::RootT &) {});
}

TEST_F(Changed, pieces) {
  auto program = [](auto change) { return [change](fb::RootT &root) { change(*root.programs[0]); }; };
  ASSERT_GT(fb::GetRoot(seedNamed("pieces").data() + 256)->programs()->Get(0)->chunk(), 1u);
  refused("pieces", "pieces of 4294967295 members of 5", program([](fb::ProgramT &p) { p.chunk = UINT32_MAX; }));
  refused("pieces", "pieces of 6 members of 5", program([](fb::ProgramT &p) { p.chunk = 6; }));
  runs("pieces", program([](fb::ProgramT &p) { p.chunk = 1; }));
  // Larger pieces, or none, need a larger arena than there is.
  refused("pieces", "of an arena of", program([](fb::ProgramT &p) { p.chunk = 5; }));
  refused("pieces", "of an arena of", program([](fb::ProgramT &p) { p.chunk = 0; }));
  refused("pieces", "of an arena of", program([](fb::ProgramT &p) {
            for (auto &buffer : p.buffers)
              buffer->whole = true;
          }));
  refused("pieces", "is a piece's", program([](fb::ProgramT &p) {
            for (size_t step = 0; step < p.steps.size(); ++step)
              launchOf(p, step).whole = true;
          }));
  // More than there is memory for, so that no sum of such leaves 64 bits.
  refused("pieces", "keeps 9223372036854775807 bytes", program([](fb::ProgramT &p) {
            p.buffers.push_back(std::make_unique<fb::BufferT>());
            p.buffers.back()->space = fb::Space::state;
            p.buffers.back()->bytes = number(INT64_MAX);
          }));
  // Buffers whose bytes do not grow evenly with the members.
  runs("pieces", program([](fb::ProgramT &p) {
         for (auto &buffer : p.buffers)
           for (size_t t = 0; buffer->bytes && buffer->space == fb::Space::arena && t < buffer->bytes->terms.size();
                ++t)
             if (auto &term = *buffer->bytes->terms[t]; term.sizes[0] == 0)
               term.divs.assign(term.sizes.size(), 1), term.divs[0] = 2;
       }));
}

TEST_F(Changed, strips) {
  auto program = [](auto change) { return [change](fb::RootT &root) { change(*root.programs[0]); }; };
  ASSERT_EQ(fb::GetRoot(seedNamed("strips").data() + 256)->programs()->Get(0)->strips(), 1u);
  EXPECT_GT(exercise(changed("strips", [](fb::RootT &) {})).strips, 0);
  refused("strips", "go along size 9 of 2", program([](fb::ProgramT &p) { p.strips = 9; }));
  refused("pieces", "go along size 1 of 4", program([](fb::ProgramT &p) { p.strips = 1; }));
  refused("groups", "go along size 1 of", program([](fb::ProgramT &p) { p.strips = 1; }));
  runs("strips", program([](fb::ProgramT &p) { p.strips = 0; }));
  // Buffers that do not grow with the axis, or not evenly; that lie elsewhere; launches in another order, or of another
  // set.
  for (auto change : {+[](fb::BufferT &b) { b.bytes->terms[0]->sizes = {0}; },
                      +[](fb::BufferT &b) { b.bytes->terms[0]->divs = {1, 3}; },
                      +[](fb::BufferT &b) { b.bytes->terms[0]->coef = 0; }, +[](fb::BufferT &b) { b.offset.reset(); }})
    runs("strips", program([=](fb::ProgramT &p) {
           for (auto &buffer : p.buffers)
             if (buffer->space == fb::Space::arena)
               change(*buffer);
         }));
  runs("strips", program([](fb::ProgramT &p) { std::swap(p.steps.front(), p.steps.back()); }));
  runs("strips", program([](fb::ProgramT &p) { launchOf(p, 1).lifted = false; }));
  // Bytes that no call has fewer than none of, but a strip of one row would.
  refused("strips", "has no sound offset and size", program([](fb::ProgramT &p) {
            p.sizes[1]->lo = 4;
            for (auto &buffer : p.buffers)
              if (buffer->space == fb::Space::arena)
                buffer->bytes->base = -2 * buffer->bytes->terms[0]->coef;
          }));
}

TEST_F(Changed, groups) {
  auto members = [](size_t group, std::vector<uint32_t> to) {
    return [=](fb::RootT &root) { root.groups[group]->members = to; };
  };
  refused("groups", "not ascending, or are another's", members(0, {1, 0}));
  refused("groups", "not ascending, or are another's", members(0, {0, 0}));
  refused("groups", "not ascending, or are another's", members(0, {0, 3}));
  refused("groups", "not ascending, or are another's", members(0, {0, UINT32_MAX}));
  refused("groups", "not ascending, or are another's", members(1, {0}));
  refused("groups", "have 2 members of 3", members(0, {0}));
  refused("groups", "have 1 members of 3", members(0, {}));
  refused("groups", "is of group 1 of 1", [](fb::RootT &root) { root.groups.pop_back(); });
  refused("groups", "are 4294967295 for 2 groups", [](fb::RootT &root) { root.programs[0]->sets = UINT32_MAX; });
  for (uint32_t chunk : {1, 2})
    runs("groups", [=](fb::RootT &root) { root.programs[0]->chunk = chunk; });
  auto step = [](auto change) { return [change](fb::RootT &root) { change(launchOf(*root.programs[0], 0)); }; };
  refused("groups", "over set 3 of 3", step([](fb::LaunchT &l) { l.set = 3; }));
  refused("groups", "members of its argument", step([](fb::LaunchT &l) {
            l.set = 2;
            for (auto &arg : l.args)
              arg->set = arg->set < 0 ? -1 : 2;
          }));
  refused("groups", "over set 2, which it cannot be", step([](fb::LaunchT &l) {
            for (auto &arg : l.args)
              arg->set = arg->set < 0 ? -1 : 2;
          }));
  refused("groups", "which it cannot be", step([](fb::LaunchT &l) {
            for (auto &arg : l.args)
              arg->set = int32_t(l.set);
          }));
  refused("groups", "is the length of set 9 of 3", [](fb::RootT &root) { root.programs[0]->sizes[2]->source = 9; });
  refused("groups", "is of group 7 of 2", [](fb::RootT &root) { root.slots[0]->group = 7; });
  refused("groups", "is of group -2 of 2", [](fb::RootT &root) { root.slots[0]->group = -2; });
}

TEST_F(Changed, launchesOnDevices) {
  auto launch = [](auto change) { return [change](fb::RootT &root) { change(launchOf(*root.programs[0], 0)); }; };
  auto rows = [](uint32_t size, int64_t divisor) {
    auto extent = std::make_unique<fb::ExtentT>();
    extent->terms.push_back(std::make_unique<fb::TermT>());
    extent->terms[0]->coef = 1, extent->terms[0]->sizes = {size}, extent->terms[0]->divs = {divisor};
    return extent;
  };
  for (auto [size, divisor] : {std::pair{99u, int64_t(1)}, {1u, int64_t(0)}, {1u, int64_t(-1)}})
    refused("device", "no sound number of rows", launch([&](fb::LaunchT &l) { l.rows = rows(size, divisor); }));
  refused("device", "no sound number of rows", launch([&](fb::LaunchT &l) { l.rows = number(INT64_MAX); }));
  refused("device", "cost for some of its geometries", launch([&](fb::LaunchT &l) { l.cost.reset(); }));
}

TEST_F(Changed, slotsAndSegments) {
  auto slot = [](auto change) { return [change](fb::RootT &root) { change(*root.slots[0]); }; };
  refused("heads", "leave their segment", slot([](fb::SlotT &s) { s.base = uint64_t(1) << 40; }));
  refused("heads", "expected multiples", slot([](fb::SlotT &s) { s.stride += 1; }));
  refused("heads", "apart", slot([](fb::SlotT &s) { s.stride = 64, s.bytes_each = 256; }));
  refused("heads", "has copy 3 for a member of 3", slot([](fb::SlotT &s) { s.index = {0, 1, 3}; }));
  refused("heads", "has copy 4294967295", slot([](fb::SlotT &s) { s.index = {0, 1, UINT32_MAX}; }));
  refused("heads", "an index of 2 entries", slot([](fb::SlotT &s) { s.index = {0, 1}; }));
  refused("heads", "do not fit", slot([](fb::SlotT &s) { s.type->dims[0] = number(-1); }));
  refused("heads", "do not fit", slot([](fb::SlotT &s) { s.type->dims[0] = number(int64_t(1) << 60); }));
  refused("heads", "dims in the model file of another size", slot([](fb::SlotT &s) { s.raw_dims = {1}; }));
  refused("heads", "permutes 1 dims of another size", slot([](fb::SlotT &s) { s.perm_dims = {1}; }));
  refused("heads", "a part", slot([](fb::SlotT &s) { s.part = s.swappable = true; }));
  refused("heads", "no permutation", slot([](fb::SlotT &s) { s.perm = {1, 1}; }));
  refused("heads", "swappable", slot([](fb::SlotT &s) { s.swappable = true, s.name = ""; }));
  runs("heads", slot([](fb::SlotT &s) { s.index = {2, 2, 2}; }));
  refused("heads", "more than the file's", [](fb::RootT &root) {
    for (int i = 0; i < 99; ++i)
      root.segments.push_back(std::make_unique<fb::SegmentT>(*root.segments.back()));
  });
  refused("heads", "has 300 images", [](fb::RootT &root) {
    auto &images = root.kernels[0]->images;
    images.front()->target = "", images.front()->entry = "";
    while (images.size() < 300)
      images.push_back(std::make_unique<fb::ImageT>());
  });
  refused("heads", "no sound size", [](fb::RootT &root) {
    root.programs[0]->arena.resize(1);
    root.programs[0]->arena[0] = number(0);
    auto term = std::make_unique<fb::TermT>();
    term->coef = 1, term->sizes.assign(65, 1);
    root.programs[0]->arena[0]->terms.push_back(std::move(term));
  });
}

TEST_F(Changed, portsAndArguments) {
  auto program = [](auto change) { return [change](fb::RootT &root) { change(*root.programs[0]); }; };
  // Inputs and outputs are as long as their dims say, at every size, whatever their buffers do.
  runs("strips", program([](fb::ProgramT &p) {
         for (auto &buffer : p.buffers)
           if (buffer->space == fb::Space::input || buffer->space == fb::Space::output)
             buffer->bytes = number(mostBytes(p, *buffer));
       }));
  for (fb::Space space : {fb::Space::constant, fb::Space::input, fb::Space::output})
    refused("heads", "outside its buffer", program([space](fb::ProgramT &p) {
              for (auto &arg : launchOf(p, 0).args)
                if (arg->buffer >= 0 && p.buffers[size_t(arg->buffer)]->space == space)
                  arg->offset = number(4);
            }));
  auto second = [](auto change) { return [change](fb::RootT &root) { change(*root.programs[1]); }; };
  const char *others = "has other inputs and outputs than program 0";
  refused("sizes", others, second([](fb::ProgramT &p) { p.ports[0]->name = "other"; }));
  refused("sizes", others, second([](fb::ProgramT &p) { std::swap(p.ports.front()->name, p.ports.back()->name); }));
  runs("sizes", second([](fb::ProgramT &p) { p.entry = "own", p.ports[0]->name = "other"; }));
}

/// The artifact of two programs, for n = 3 and n = 5.
class Choice : public testing::Test {
protected:
  Choice() : file(expand(seedNamed("sizes"))) {
    file.redigest();
    EXPECT_EQ(tutti_artifact_open_memory(file.data(), file.size(), &artifact, nullptr), TUTTI_OK);
  }
  ~Choice() override { tutti_artifact_close(artifact); }

  tutti_status_t choose(std::vector<int64_t> dims, const char *name = "x") {
    tutti_tensor_t x = {name, TUTTI_F32, int32_t(dims.size()), dims.data(), nullptr, nullptr, TUTTI_MEMORY_HOST};
    return tutti_artifact_choose_program(artifact, &x, 1, &options, &error);
  }
  static tutti_session_options_t fresh() {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    return options;
  }

  File file;
  tutti_artifact_t *artifact = nullptr;
  tutti_session_options_t options = fresh();
  tutti_error_t error = {};
};

TEST_F(Choice, takesTheProgramThatFits) {
  ASSERT_EQ(tutti_artifact_info(artifact)->num_programs, 2u);
  EXPECT_EQ(choose({5, 4}), TUTTI_OK);
  EXPECT_EQ(options.program, 1u);
  EXPECT_EQ(options.device, TUTTI_DEVICE_CPU);
  options = fresh();
  EXPECT_EQ(choose({3, 4}), TUTTI_OK);
  EXPECT_EQ(options.program, 0u);
  EXPECT_EQ(tutti_artifact_choose_program(artifact, nullptr, 0, &options, &error), TUTTI_OK);
  EXPECT_EQ(options.program, 0u);
}

TEST_F(Choice, saysWhatThereIs) {
  EXPECT_EQ(choose({4, 4}), TUTTI_SHAPE_MISMATCH);
  EXPECT_STREQ(error.message, "no program takes inputs 'x' [4, 4]; the artifact was compiled for n=3; n=5");
  options.program = 1; // only those from there on
  EXPECT_EQ(choose({3, 4}), TUTTI_SHAPE_MISMATCH);
  EXPECT_STREQ(error.message, "no program takes inputs 'x' [3, 4]; the artifact was compiled for n=5");
  EXPECT_EQ(options.program, 1u);
  EXPECT_EQ(options.device, TUTTI_DEVICE_DEFAULT);
}

TEST_F(Choice, staysInItsEntry) {
  tutti_artifact_close(artifact);
  const fb::Root &root = *fb::GetRoot(file.data() + file.header().metadataOffset);
  const_cast<char *>(root.programs()->Get(1)->entry()->c_str())[0] = 'o';
  file.redigest();
  ASSERT_EQ(tutti_artifact_open_memory(file.data(), file.size(), &artifact, nullptr), TUTTI_OK);
  const tutti_info_t &info = *tutti_artifact_info(artifact);
  ASSERT_STRNE(info.programs[0].entry, info.programs[1].entry);
  EXPECT_EQ(choose({5, 4}), TUTTI_OK) << "one program's dims are for binding to refuse";
  EXPECT_EQ(options.program, 0u);
  options = fresh();
  options.program = 1;
  EXPECT_EQ(choose({3, 4}), TUTTI_OK);
  EXPECT_EQ(options.program, 1u);
}

TEST_F(Choice, leavesOtherFaultsToBinding) {
  EXPECT_EQ(choose({5}), TUTTI_OK) << "a rank that fits none";
  EXPECT_EQ(options.program, 0u);
  EXPECT_EQ(choose({7, 7}, "nobody"), TUTTI_OK) << "a name that there is not";
}

TEST_F(Choice, argumentsThatAreNone) {
  tutti_tensor_t x = {};
  EXPECT_EQ(tutti_artifact_choose_program(nullptr, nullptr, 0, &options, &error), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_artifact_choose_program(artifact, nullptr, 0, nullptr, &error), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_artifact_choose_program(artifact, nullptr, 2, &options, &error), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_artifact_choose_program(artifact, &x, 1, &options, nullptr), TUTTI_OK) << "no name, no dims";
  x.name = "x", x.rank = -5;
  EXPECT_EQ(tutti_artifact_choose_program(artifact, &x, 1, &options, nullptr), TUTTI_OK);
  options = fresh();
  options.program = 2;
  EXPECT_EQ(choose({3, 4}), TUTTI_NOT_FOUND);
  options = fresh();
  options.struct_size = 8;
  EXPECT_EQ(choose({3, 4}), TUTTI_INVALID_ARGUMENT);
  options = fresh();
  uint32_t none = 77;
  std::memcpy(&options.device, &none, sizeof(none));
  EXPECT_EQ(choose({3, 4}), TUTTI_INVALID_ARGUMENT);
  options = fresh();
  options.target = "z80";
  EXPECT_EQ(choose({3, 4}), TUTTI_INVALID_ARGUMENT);
}
} // namespace
