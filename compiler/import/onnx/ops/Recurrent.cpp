// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of recurrent ops over a known number of steps, which are unrolled into the model.
#include "compiler/import/Limits.h"
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>

using namespace mlir;

namespace tutti {

/// The budget that a step takes: a product and a few functions.
static constexpr int64_t stepCost = 2048;

namespace {
struct Activation {
  const NamedActivation *named;
  double first, second;
};

/// Attributes that change the order or the gates of a step.
enum class Order : uint8_t {
  usual,
  resetBehind,  ///< GRU: the reset is applied after the product with the state and its bias
  inputForgets, ///< LSTM: the forget gate is 1 minus the input gate
};

/// One direction of a node. Gates lie side by side in columns, each `width` wide.
struct Cell {
  Emit &e;
  int64_t width;
  Operand inputs;          ///< of every step, already multiplied: (batch, steps, gates * width)
  Operand weights;         ///< multiply the state: (width, gates * width)
  Operand bias, peepholes; ///< added to this product, (gates * width); of the memory, (3 * width). May be nothing
  SmallVector<Activation, 3> functions;
  std::optional<double> clip;
  Order order;

  Operand gate(const Operand &x, int64_t k, int64_t count = 1) const {
    return e.part(x, x ? x.rank() - 1 : 0, k * width, count * width);
  }
  Operand product(const Operand &h, const Operand &matrix) const { return e.contract(h, matrix, "bk,kn->bn"); }
  Operand apply(size_t function, Operand x) const;
};

/// What a step passes to the next; nothing at first, for zeros.
struct State {
  Operand h, c;
};
using Step = State (*)(const Cell &cell, const Operand &x, const State &before);
} // namespace

/// a + b, where nothing stands for 0.
static Operand plus(Emit &e, const Operand &a, const Operand &b) { return !b ? a : !a ? b : e.add(a, b); }
static Operand clamp(Emit &e, const Operand &x, double low, double high) {
  return e.binary<MinOp>(e.binary<MaxOp>(x, e.scalar(low, x)), e.scalar(high, x));
}

Operand Cell::apply(size_t function, Operand x) const {
  const auto &[activation, first, second] = functions[function];
  if (!x)
    return x;
  if (clip)
    x = clamp(e, x, -*clip, *clip);
  return activation->make(e, x, first, second);
}

/// h' = f(x + h R)
static State stepRNN(const Cell &cell, const Operand &x, const State &before) {
  return {cell.apply(0, before.h ? cell.e.add(x, cell.product(before.h, cell.weights)) : x), Operand()};
}

/// z = f(xz + h Rz), r = f(xr + h Rr), n = g(xn + (r h) Rn), or g(xn + r (h Rn + b)); h' = (1 - z) n + z h
static State stepGRU(const Cell &cell, const Operand &x, const State &before) {
  Emit &e = cell.e;
  Operand gates = cell.gate(x, 0, 2), candidate = cell.gate(x, 2), behind;
  if (before.h && cell.order == Order::resetBehind) {
    Operand product = plus(e, cell.product(before.h, cell.weights), cell.bias);
    gates = e.add(gates, cell.gate(product, 0, 2));
    behind = cell.gate(product, 2);
  } else if (before.h) {
    gates = e.add(gates, cell.product(before.h, cell.gate(cell.weights, 0, 2)));
  } else if (cell.bias) {
    gates = e.add(gates, cell.gate(cell.bias, 0, 2));
    behind = cell.gate(cell.bias, 2);
  }
  gates = cell.apply(0, gates);
  Operand z = cell.gate(gates, 0), r = cell.gate(gates, 1);
  if (before.h && cell.order != Order::resetBehind)
    candidate = e.add(candidate, cell.product(e.mul(r, before.h), cell.gate(cell.weights, 2)));
  else if (behind)
    candidate = e.add(candidate, e.mul(r, behind));
  candidate = cell.apply(1, candidate);
  Operand h = e.mul(e.sub(e.scalar(1, z), z), candidate);
  return {before.h ? e.add(h, e.mul(z, before.h)) : h, Operand()};
}

/// i, o, f = f(x + h R + p c), c' = f c + i g(xc + h Rc), where o sees c'; h' = o h(c')
static State stepLSTM(const Cell &cell, const Operand &x, const State &before) {
  Emit &e = cell.e;
  Operand all = before.h ? e.add(x, cell.product(before.h, cell.weights)) : x, open;
  if (!cell.peepholes) // three gates at once
    open = cell.apply(0, cell.gate(all, 0, 3));
  auto gate = [&](int64_t k, const Operand &memory, int64_t peephole) {
    if (!cell.peepholes)
      return cell.gate(open, k);
    Operand sum = cell.gate(all, k);
    return cell.apply(0, memory ? e.add(sum, e.mul(memory, cell.gate(cell.peepholes, peephole))) : sum);
  };
  Operand input = gate(0, before.c, 0), c = e.mul(input, cell.apply(1, cell.gate(all, 3)));
  if (before.c) {
    Operand forget = cell.order == Order::inputForgets ? e.sub(e.scalar(1, input), input) : gate(2, before.c, 2);
    c = e.add(e.mul(forget, before.c), c);
  }
  Operand output = gate(1, c, 1);
  Cell free = cell; // the memory is not clipped at the output
  free.clip.reset();
  return {e.mul(output, free.apply(2, c)), c};
}

namespace {
/// The common part of the three ops: their operands, checked and in the order (direction, batch ...).
struct Recurrent {
  Recurrent(Node &n, int64_t gates, Step step)
      : n(n), e(n.emit), gates(gates), step(step),
        clip(n.hasAttr("clip") ? std::optional(n.floatAttr("clip", 0)) : std::nullopt) {}

  Node &n;
  Emit &e;
  int64_t gates;
  Step step;
  std::optional<double> clip; ///< the bound of every function's argument
  std::string direction = "forward";
  bool batchFirst = false; ///< attribute 'layout': for inputs and outputs

  Operand x, w, r, b, lengths, h, c, peepholes;
  Size batch;
  int64_t steps = 0, width = 0, directions = 1;
  SmallVector<Activation> functions;

  /// Reads the operands before the op's own; false, and a problem, if they do not fit.
  bool read();
  bool readFunctions(ArrayRef<const char *> usual);
  Operand in(size_t i, StringRef name, ArrayRef<Size> sizes);
  Operand initial(size_t i, StringRef name);
  Cell cell(int64_t direction, Order order);
  /// Runs `direction`; returns its last state, and in `shown` each step's output.
  State run(const Cell &cell, int64_t direction, SmallVectorImpl<Operand> &shown);
  void run(Order order = Order::usual);
};
} // namespace

/// Input i; a problem if its shape or type differs, nothing if it is omitted.
Operand Recurrent::in(size_t i, StringRef name, ArrayRef<Size> sizes) {
  if (!n.has(i))
    return Operand();
  Operand given = n.in(i);
  if (!given)
    return given;
  Sizes own = given.sizes();
  std::string both = "input " + std::to_string(i) + ", the " + name.str() + ", ";
  auto wrong = [&] { return e.malformed(both + "is " + given.str() + ", expected " + str(sizes)); };
  if (own.size() != sizes.size() || (i != 4 && given.element() != x.element()))
    return wrong();
  for (auto [mine, due] : llvm::zip_equal(own, sizes))
    if (!e.same(mine, due))
      return mine.isFixed() && due.isFixed()
                 ? wrong()
                 : e.misfit(mine, due, both + given.str() + ", and the expected " + str(sizes), "fit");
  return given;
}

/// Whether the lengths, one per sequence, are known to be this number, in all members.
static bool areAll(Emit &e, const Operand &lengths, int64_t number) {
  std::optional<Operand> one = e.withoutRepeats(lengths, 0);
  std::optional<HostTensor> known = one && *one && !e.keepsNumbers() ? e.known(*one) : std::nullopt;
  bool isIt = known && llvm::all_of(known->ints, [&](int64_t each) { return each == number; });
  if (isIt)
    e.setRead(*one);
  return isIt;
}

/// An initial state, as (directions, batch, width). Given zeros are multiplied like any other state: 0 + -0 is 0, and 0
/// times an infinity is NaN.
Operand Recurrent::initial(size_t i, StringRef name) {
  Operand given = in(
      i, name, batchFirst ? Sizes{batch, Size(directions), Size(width)} : Sizes{Size(directions), batch, Size(width)});
  return given && batchFirst ? e.moveAxis(given, 1, 0) : given;
}

/// Reads names and numbers of the functions, direction by direction. Only functions with parameters take numbers.
bool Recurrent::readFunctions(ArrayRef<const char *> usual) {
  SmallVector<std::string> names = n.stringsAttr("activations");
  SmallVector<double> alphas = n.floatsAttr("activation_alpha").value_or(SmallVector<double>()),
                      betas = n.floatsAttr("activation_beta").value_or(SmallVector<double>());
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i)
      names.append(usual.begin(), usual.end());
  if (int64_t(names.size()) != directions * int64_t(usual.size())) {
    e.malformed(Twine(names.size()) + " activations, expected " + Twine(directions * int64_t(usual.size())));
    return false;
  }
  size_t alpha = 0, beta = 0;
  for (const std::string &given : names) {
    const NamedActivation *known = findActivation(given);
    if (!known || known->numbers[1] == "gamma") { // Selu is not among them
      e.unsupported("activation " + quote(given), "unroll the steps when exporting");
      return false;
    }
    Activation &function = functions.emplace_back(Activation{known, known->usual[0], known->usual[1]});
    if (!known->numbers[0].empty() && alpha < alphas.size())
      function.first = alphas[alpha++];
    if (!known->numbers[1].empty() && beta < betas.size())
      function.second = betas[beta++];
    if (std::isnan(function.first) || std::isnan(function.second)) {
      e.unsupported("activation " + quote(given) + " without numbers of its own, which runtimes make up",
                    "give activation_alpha and activation_beta");
      return false;
    }
  }
  return true;
}

bool Recurrent::read() {
  direction = n.stringAttr("direction", "forward");
  batchFirst = n.intAttr("layout", 0) != 0;
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    e.malformed("attribute 'direction' is " + quote(direction));
    return false;
  }
  directions = direction == "bidirectional" ? 2 : 1;
  x = n.in(0), w = n.in(1), r = n.in(2);
  if (!x || !w || !r)
    return false;
  if (!x.isFloat() || x.rank() != 3 || r.rank() != 3) {
    e.malformed("a sequence " + x.str() + " and weights of the state " + r.str());
    return false;
  }
  int64_t time = batchFirst ? 1 : 0;
  if (!e.isKnown(x, time, "goes step by step along") || !e.isKnown(x, 2, "sums over") ||
      !e.isKnown(r, 2, "multiplies a state of"))
    return false;
  steps = x.sizes()[time].getFixed(), width = r.sizes()[2].getFixed();
  batch = x.sizes()[1 - time];
  int64_t named = n.intAttr("hidden_size", width);
  if (steps < 1 || width < 1 || width > (int64_t(1) << 32) || named != width) {
    e.malformed("a state of " + Twine(width) + " in " + Twine(steps) + " steps" +
                (named == width ? "" : ", where attribute 'hidden_size' is " + std::to_string(named)));
    return false;
  }
  if (steps > mostSteps) {
    e.unsupported("it has more than " + Twine(mostSteps) + " steps");
    return false;
  }
  if (!e.budget.spend(steps * directions * stepCost)) {
    e.unsupported("with it the model has more steps than there is room for");
    return false;
  }
  w = in(1, "weights", {Size(directions), Size(gates * width), x.sizes()[2]});
  r = in(2, "weights of the state", {Size(directions), Size(gates * width), Size(width)});
  b = in(3, "bias", {Size(directions), Size(2 * gates * width)});
  lengths = in(4, "lengths", {batch});
  h = initial(5, "state");
  if (lengths && (!isa<IntegerType>(lengths.element()) || lengths.element().isInteger(1)))
    e.malformed("input 4, the lengths, is " + lengths.str());
  if (lengths && areAll(e, lengths, steps))
    lengths = Operand();
  if (!batchFirst)
    x = e.moveAxis(x, 0, 1);
  return !e.failed();
}

Cell Recurrent::cell(int64_t direction, Order order) {
  auto of = [&](const Operand &all, int64_t from, int64_t count) {
    if (!all)
      return all;
    Operand one = e.part(e.part(all, 0, direction, 1), 1, from, count);
    Sizes sizes = one ? one.sizes() : Sizes();
    return one ? e.reshape(one, ArrayRef<Size>(sizes).drop_front()) : one;
  };
  int64_t columns = gates * width;
  Operand inside = of(b, 0, columns), behind = of(b, columns, columns);
  bool apart = order == Order::resetBehind; // the bias that the reset scales with the product of the state
  Operand bias = apart ? inside : inside && behind ? e.add(inside, behind) : Operand();
  Operand inputs = e.contract(x, e.transpose(of(w, 0, columns), {1, 0}), "bsk,kn->bsn");
  size_t count = functions.size() / directions;
  return {e,
          width,
          plus(e, inputs, bias),
          e.transpose(of(r, 0, columns), {1, 0}),
          apart ? behind : Operand(),
          of(peepholes, 0, 3 * width),
          SmallVector<Activation, 3>(ArrayRef(functions).slice(direction * count, count)),
          clip,
          order};
}

State Recurrent::run(const Cell &cell, int64_t direction, SmallVectorImpl<Operand> &shown) {
  auto first = [&](const Operand &all) {
    return all ? e.reshape(e.part(all, 0, direction, 1), {batch, Size(width)}) : all;
  };
  State state = {first(h), first(c)};
  bool backwards = this->direction == "reverse" || direction == 1;
  shown.resize(steps);
  for (int64_t i = 0; i < steps && !e.failed(); ++i) {
    int64_t time = backwards ? steps - 1 - i : i;
    State after = step(cell, e.reshape(e.part(cell.inputs, 1, time, 1), {batch, Size(gates * width)}), state);
    shown[time] = after.h;
    if (lengths) { // past its end a sequence keeps its state and outputs zeros
      Operand goesOn = e.compare<GreaterOp>(e.reshape(lengths, {batch, Size(1)}), e.scalar(double(time), lengths));
      Operand zero = e.scalar(0, x);
      auto held = [&](const Operand &now, const Operand &before) {
        return now ? e.select(goesOn, now, before ? before : zero) : now;
      };
      shown[time] = held(after.h, zero);
      after = {held(after.h, state.h), held(after.c, state.c)};
    }
    state = after;
  }
  return state;
}

void Recurrent::run(Order order) {
  if (e.failed())
    return;
  int64_t front = batchFirst ? 1 : 0; // the axis of the directions in a state
  SmallVector<Operand, 2> outputs, hidden, memory;
  for (int64_t direction = 0; direction < directions && !e.failed(); ++direction) {
    SmallVector<Operand> shown;
    State last = run(cell(direction, order), direction, shown);
    hidden.push_back(last.h);
    memory.push_back(last.c);
    if (n.wants(0))
      outputs.push_back(batchFirst ? e.stack(shown, 1) : e.moveAxis(e.stack(shown, 1), 1, 0));
  }
  if (e.failed())
    return;
  if (n.wants(0))
    n.set(0, e.stack(outputs, batchFirst ? 2 : 1));
  if (n.wants(1))
    n.set(1, e.stack(hidden, front));
  if (n.wants(2))
    n.set(2, e.stack(memory, front));
}

void importRNN(Node &n) {
  Recurrent all(n, 1, stepRNN);
  if (all.read() && all.readFunctions({"tanh"}))
    all.run();
}

void importGRU(Node &n) {
  Recurrent all(n, 3, stepGRU);
  Order order = n.intAttr("linear_before_reset", 0) != 0 ? Order::resetBehind : Order::usual;
  if (all.read() && all.readFunctions({"sigmoid", "tanh"}))
    all.run(order);
}

void importLSTM(Node &n) {
  Recurrent all(n, 4, stepLSTM);
  Order order = n.intAttr("input_forget", 0) != 0 ? Order::inputForgets : Order::usual;
  if (!all.read() || !all.readFunctions({"sigmoid", "tanh", "tanh"}))
    return;
  all.c = all.initial(6, "memory");
  all.peepholes = all.in(7, "peepholes", {Size(all.directions), Size(3 * all.width)});
  all.run(order);
}

} // namespace tutti
