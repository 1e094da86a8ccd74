// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session, and the arrays of Python that are bound to it.
#pragma once

#include "Array.h"

#include <atomic>
#include <optional>
#include <sys/types.h>
#include <thread>

namespace tutti::python {

/// tutti.Session. Used by one thread at a time, as the session is: the interpreter's lock is given away while a run is
/// under way and may be taken by others between two lines of Python, so that every call is guarded against another.
class SessionOfArrays {
public:
  SessionOfArrays(Artifact &artifact, const tutti_session_options_t &options);

  /// The answers by the keys of their ports (tutti.info.Port.key). `inputs` and `out` are dicts of arrays; `active`
  /// None for the standing set, else a sequence of members for this call alone.
  nb::dict run(nb::handle inputs, nb::handle active, nb::handle out);
  void runAsync();
  void wait();
  /// None lets the input go.
  void bindInput(nb::handle name, nb::handle array);
  /// None gives the output back to the session.
  void bindOutput(nb::handle key, nb::handle array);
  void setActive(nb::handle members);
  const std::vector<uint32_t> &active() const { return standing; }
  void setDimension(nb::handle name, int64_t value);
  nb::object device() const;
  nb::object program() const { return described; }
  /// Ends the session; what was started is waited for, and so is a call of another thread. Arrays are let go.
  void close();
  void requireOpen() const;
  std::string text() const;

private:
  class Use;
  class Closing;
  class OtherInputs;
  class OtherOutputs;
  /// What is bound to a port. `object` is what a run returns for it.
  struct Bound {
    Array array;
    nb::object object;
  };
  struct Input {
    std::string name;
    std::optional<Bound> bound; ///< for all runs, or while one is under way
  };
  struct Output {
    std::string name, head, key, what;
    tutti_dtype_t dtype;
    std::optional<Bound> bound; ///< likewise
    bool standing = false;      ///< the caller bound it for all runs
  };

  void bind(nb::handle name, nb::handle array, Array::For use);
  void letGo(nb::handle name);
  /// Binds what was bound before, or nothing.
  void rebind(Input &input, std::optional<Bound> bound);
  void bind(Output &output, Bound bound);
  void bindNew(Output &output);
  void giveBack(Output &output);
  Output &outputOf(nb::handle key);
  void activate(const std::vector<uint32_t> &set);
  void requireOwnProcess() const;
  [[noreturn]] void failBusy() const;
  void requireInputs() const;
  void waitForAll();
  void keep(std::optional<Bound> &place, std::optional<Bound> bound);

  // Arrays outlive the session, which is declared behind them.
  std::vector<Bound> retired; ///< bound when a run began that may not have ended; a run waits where they are many
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  tutti::Session session;
  std::vector<uint32_t> standing; ///< the active set of runs that name none
  std::vector<uint32_t> current;  ///< the runtime's: that of the last run
  nb::object described;
  // The lock of the interpreter guards these, but that who closes the session looks at `inUse` without it.
  std::atomic<bool> inUse = false;
  std::thread::id user; ///< whose call was the last one
  int closing = 0;      ///< threads in close()
  bool inFlight = false;
  pid_t process; ///< where it was made
};

} // namespace tutti::python
