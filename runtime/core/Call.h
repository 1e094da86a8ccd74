// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session computes, in terms that hold on every device: sizes, ports, addresses and arguments.
#pragma once

#include "Artifact.h"

namespace tutti::rt {

/// An input or output of the session's program, and the memory bound to it.
struct PortState {
  const tutti_port_t *info;
  const fb::Port *port;
  bool input;
  void *bound;              ///< the caller's memory
  void *owned;              ///< outputs: the session's own
  tutti_memory_t memory;    ///< of what is bound; without that, where an output's own is wanted
  bool inPlace;             ///< the device works on (or copies straight from and to) the bound memory
  bool shaped;              ///< `given` holds the dims of what is bound, or was before it was let go
  bool absent;              ///< an input that was let go
  DLManagedTensor *managed; ///< what the session gives back when something else is bound
  int64_t given[TUTTI_MAX_RANK];
  int64_t dims[TUTTI_MAX_RANK]; ///< under the current sizes

  void *data() const { return bound ? bound : owned; }
  /// Bytes under the current sizes.
  uint64_t bytes() const {
    uint64_t bytes = 0;
    denseBytes(fb::DType(info->dtype), dims, uint32_t(info->rank), bytes);
    return bytes;
  }
  /// Bytes at the largest sizes.
  uint64_t mostBytes() const {
    int64_t most[TUTTI_MAX_RANK];
    uint64_t bytes = 0;
    for (int32_t d = 0; d < info->rank; ++d)
      most[d] = info->dims[d].hi;
    denseBytes(fb::DType(info->dtype), most, uint32_t(info->rank), bytes);
    return bytes;
  }
};

/// The session keeps it; its engine reads it, and fills in where things lie on the device.
struct Call {
  /// When a CPU goes through launches in strips (device/cpu/Strips.h); `always`: whatever can does, in the shortest.
  enum class InStrips : uint8_t { whereFaster, always, never };
  struct Arg {
    uint32_t buffer, set; ///< 0, or whose table it is
    int64_t offset;
    const void *table; ///< in place of the buffer's own address; null: none
  };
  /// Members that launches run over: positions of the active set, `first` to `first` + `count` of `positions`.
  struct Set {
    uint32_t first, count;
  };
  /// One launch: `numArgs` arguments, then the sizes, in `words`.
  struct Launch {
    const fb::Launch *launch;
    uint32_t step; ///< launches of one step need nothing of each other
    uint32_t firstArg, numArgs, firstWord;
  };
  /// A pointer per member of a set, in memory that the host can write: of a per-member weight, or where in a buffer
  /// their parts lie.
  struct Table {
    uint32_t set, buffer;
    int32_t slot; ///< -1: a part of the buffer
    uint32_t arg; ///< the argument that gets it, if it is a part
    const void **entries;
  };

  explicit Call(Artifact &artifact) : artifact(artifact) {}

  /// Takes memory for everything that depends on the program alone; false when there is not enough.
  [[nodiscard]] bool build(const tutti_program_t &description);
  /// Bytes of the arena and of all state at such sizes; -1 when that cannot be counted.
  int64_t arenaBytes(const int64_t *at) const;

  /// The sizes have changed: offsets, and the sizes that kernels get. Then updateAddresses.
  void updateOffsets();
  /// Something lies elsewhere: `buffers` of the ports have been filled in.
  void updateAddresses();
  /// The active set is another one: which of it are each group's.
  void updateSets();
  /// An engine has placed table number `index`: here, and as the device reads it.
  void placeTable(uint32_t index, const void **entries, char *there);

  /// The pieces in which the active set runs, and how many members each has.
  uint32_t numPieces() const { return program->chunk() ? divideCeil(numActive, program->chunk()) : 1; }
  uint32_t pieceLength(uint32_t piece) const {
    uint32_t first = piece * program->chunk();
    return program->chunk() ? std::min(program->chunk(), numActive - first) : numActive;
  }
  /// Which of a set's members a piece has.
  Set partOf(uint32_t set, uint32_t piece) const;
  /// The sizes that kernels get in a piece.
  void sizesOf(uint32_t piece, int64_t *at) const;
  /// Gives lifted launches that are not `whole` the arguments and the sizes of a piece.
  void selectPiece(uint32_t piece);
  /// Whether a launch has a part in the piece.
  static bool runsIn(const fb::Launch &launch, uint32_t piece) {
    return !launch.whole() && (launch.lifted() || piece == 0);
  }
  /// Where the members' weights lie, `locate(slot, member)` says; of their parts of buffers, the call does.
  template <typename Locate> void fillTables(Locate locate) {
    for (const Table &table : tables) {
      const Set &set = sets[table.set];
      // A buffer that has room for a piece has each of them in turn.
      uint32_t room = table.slot < 0 && isOfPiece(*program->buffers()->Get(table.buffer)) ? pieceLength(0) : numActive;
      int64_t each = table.slot < 0 ? bytesOf(table.buffer, room) / std::max(room, 1u) : 0;
      for (uint32_t p = 0; p < set.count; ++p) {
        uint32_t position = positions[set.first + p];
        table.entries[p] = table.slot < 0 ? buffers[table.buffer] + position % room * each
                                          : locate(uint32_t(table.slot), active[position]);
      }
    }
  }
  /// Bytes of all tables, each as long as there are members.
  uint64_t tableBytes() const { return uint64_t(tables.size()) * active.size() * sizeof(void *); }
  /// Bytes of a buffer with room for so many active members.
  int64_t bytesOf(uint32_t buffer, uint32_t members) const;
  /// Bytes of a buffer at such sizes; of a port by its dims, as what is bound has those. False when that cannot be
  /// counted.
  bool bytesAt(uint32_t buffer, const int64_t *at, int64_t &bytes) const;
  /// Whether the buffer has room for a piece's members, not for all.
  bool isOfPiece(const fb::Buffer &buffer) const {
    return program->chunk() && buffer.space() == fb::Space::arena && !buffer.whole();
  }

  /// The slot of a buffer that is a constant; else null.
  const fb::Slot *slotOf(uint32_t buffer) const {
    const fb::Buffer &b = *program->buffers()->Get(buffer);
    return b.space() == fb::Space::constant ? artifact.root().slots()->Get(uint32_t(b.slot())) : nullptr;
  }

  uint64_t *wordsOf(const Launch &launch) const { return words.data() + launch.firstWord; }
  const fb::Kernel &kernelOf(const Launch &launch) const {
    return *artifact.root().kernels()->Get(launch.launch->kernel());
  }

  Artifact &artifact;
  const fb::Program *program = nullptr;
  tutti_error_t error = {};
  tutti_status_t lost = TUTTI_OK; ///< once set, what every call returns, with the message that it came with

  Array<int64_t> sizes;
  Array<uint32_t> active;
  uint32_t numActive = 0;
  InStrips inStrips = InStrips::whereFaster;
  Array<Set> sets;
  Array<uint32_t> positions; ///< those of the whole set, then each group's
  Array<uint32_t> groupOf;   ///< by member, if there are several groups
  Array<PortState> ports;    ///< inputs, then outputs
  uint32_t numInputs = 0;

  // On the device. The engine fills in the arena, and the buffers of state and constants, when it is built.
  char *arena = nullptr;
  Array<char *> buffers;
  /// By buffer: bytes from a member to the next, where a piece does not start at the buffer's own start.
  Array<int64_t> strides;
  Array<Launch> launches;
  Array<Arg> args;
  Array<uint64_t> words;
  Array<Table> tables;
  Weights::Reader reader;
  uint64_t tablesVersion = 0; ///< of the weights in the tables; 0: of none yet

private:
  // What `build` does, in this order.
  [[nodiscard]] bool allocate(const tutti_program_t &description);
  void activateAll();
  void describePorts(const tutti_program_t &description);
  void fillLaunches();
  /// How many tables the launches need; writes them `to` there, if it is not null.
  uint32_t listTables(Table *to) const;
};

} // namespace tutti::rt
