// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of Einstein sums: sums of one operand, transposes, and contractions of two operands after the other.
#include "compiler/import/onnx/ops/Ops.h"

#include <map>
#include <set>

using namespace mlir;

namespace tutti {

namespace {

/// An operand and the label of each of its axes: a letter, or a number from 256 on for an axis of an ellipsis, counted
/// from the end.
struct Term {
  Operand x;
  SmallVector<int> labels;
};

class Einsum {
public:
  explicit Einsum(Node &n) : n(n), e(n.emit) {}

  void run() {
    if (!n.hasAttr("equation"))
      return void(malformed("attribute 'equation' is missing"));
    std::string equation = n.stringAttr("equation", "");
    llvm::erase(equation, ' ');
    if (!read(equation))
      return;
    for (Term &term : terms)
      if (!diagonals(term))
        return;
    leaveOutUnits();
    for (auto [i, term] : llvm::enumerate(terms))
      for (int label : term.labels)
        lastWith[label] = i;
    Term all = terms[0];
    for (size_t i = 1; i <= terms.size(); ++i) {
      sumAlone(all, i);
      if (i == terms.size())
        break;
      sumAlone(terms[i], i, &all);
      all = contract(all, terms[i], i + 1);
      if (!all.x)
        return;
    }
    n.set(0, arranged(all, result));
  }

private:
  Node &n;
  Emit &e;
  std::vector<Term> terms;
  SmallVector<int> result;
  std::map<int, size_t> lastWith; ///< by label, the last term that has it

  bool malformed(const Twine &why) { return e.malformed(why), false; }

  /// The labels of one operand in the equation; `extra` axes stand for an ellipsis.
  bool labelsOf(StringRef text, int64_t extra, SmallVectorImpl<int> &labels) {
    bool dots = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (llvm::isAlpha(text[i])) {
        labels.push_back(text[i]);
      } else if (text.substr(i, 3) == "..." && !dots) {
        for (int64_t axis = extra; axis-- > 0;)
          labels.push_back(256 + int(axis));
        dots = true;
        i += 2;
      } else {
        return malformed("attribute 'equation' has " + quote(text));
      }
    }
    return true;
  }

  bool read(StringRef equation) {
    auto [inputs, output] = equation.split("->");
    SmallVector<StringRef> sides;
    inputs.split(sides, ',');
    if (sides.size() != n.inputs())
      return malformed("attribute 'equation' has " + Twine(sides.size()) + " operands, the node " + Twine(n.inputs()));
    int64_t widest = 0;
    for (auto [i, side] : llvm::enumerate(sides)) {
      Operand x = n.in(i);
      if (!x)
        return false;
      int64_t letters = llvm::count_if(side, [](char c) { return llvm::isAlpha(c); }), extra = x.rank() - letters;
      if (extra < 0 || (extra > 0 && !side.contains("...")))
        return malformed("labels " + quote(side) + " of a tensor of rank " + Twine(x.rank()));
      widest = std::max(widest, side.contains("...") ? extra : 0);
      terms.push_back({x, {}});
      if (!labelsOf(side, extra, terms.back().labels))
        return false;
    }
    if (equation.contains("->")) {
      if (!labelsOf(output, widest, result))
        return false;
    } else { // the axes of the ellipsis, then the labels that occur once, in alphabetical order
      for (int64_t axis = widest; axis-- > 0;)
        result.push_back(256 + int(axis));
      for (int letter = 'A'; letter <= 'z'; ++letter)
        if (llvm::count(inputs, char(letter)) == 1 && llvm::isAlpha(char(letter)))
          result.push_back(letter);
    }
    for (auto [i, label] : llvm::enumerate(result)) {
      bool known = llvm::any_of(terms, [&](const Term &term) { return llvm::is_contained(term.labels, label); });
      if (!known || llvm::is_contained(ArrayRef(result).take_front(i), label))
        return malformed("output labels " + quote(output) + ", of which each has to be an input's and occur once");
    }
    return true;
  }

  /// Replaces axes with one label by their diagonal: every n + 1st element of both as one axis.
  bool diagonals(Term &term) {
    for (size_t i = 0; i < term.labels.size(); ++i)
      for (size_t j = i + 1; j < term.labels.size();) {
        if (term.labels[j] != term.labels[i]) {
          ++j;
          continue;
        }
        Sizes sizes = term.x.sizes();
        if (!e.isKnown(term.x, i, "takes the diagonal of") || !e.isKnown(term.x, j, "takes the diagonal of"))
          return false;
        int64_t length = sizes[i].getFixed(), rank = term.x.rank();
        if (sizes[j] != sizes[i])
          return malformed("a diagonal of axes of lengths " + sizes[i].str() + " and " + sizes[j].str());
        Operand last = e.moveAxis(e.moveAxis(term.x, j, rank - 1), i, rank - 1);
        Operand flat = e.flattenFrom(last, rank - 2);
        if (!flat)
          return false;
        term.x = e.moveAxis(e.part(flat, rank - 2, 0, length, length + 1), rank - 2, i);
        term.labels.erase(term.labels.begin() + j);
        if (!term.x)
          return false;
      }
    return true;
  }

  /// Drops axes of length 1 that broadcast to longer ones from their operand.
  void leaveOutUnits() {
    std::set<int> longer;
    for (const Term &term : terms)
      for (auto [label, size] : llvm::zip_equal(term.labels, term.x.sizes()))
        if (size != Size(1))
          longer.insert(label);
    for (Term &term : terms) {
      Sizes sizes = term.x.sizes();
      for (size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] != Size(1) || !longer.count(term.labels[i]))
          continue;
        term.x = e.dropAxes(term.x, int64_t(i));
        term.labels.erase(term.labels.begin() + i);
      }
    }
  }

  /// Whether the result has the label, or a term from `later` on.
  bool isWanted(int label, size_t later) {
    auto last = lastWith.find(label);
    return llvm::is_contained(result, label) || (last != lastWith.end() && last->second >= later);
  }

  /// Sums over labels that occur neither in the result, nor in a term from `later` on, nor in `other`.
  void sumAlone(Term &term, size_t later, const Term *other = nullptr) {
    SmallVector<int64_t> axes;
    SmallVector<int> left;
    for (auto [axis, label] : llvm::enumerate(term.labels)) {
      bool isOthers = other && llvm::is_contained(other->labels, label);
      // For a term itself only later terms count.
      size_t from = other ? later + 1 : later;
      if (isOthers || isWanted(label, from))
        left.push_back(label);
      else
        axes.push_back(axis);
    }
    term.x = e.reduce(ReduceKind::sum, term.x, axes, Axes::drop);
    term.labels = left;
  }

  /// A term with its axes in the order of `labels`.
  Operand arranged(const Term &term, ArrayRef<int> labels) {
    if (!term.x)
      return Operand();
    SmallVector<int64_t> permutation;
    for (int label : labels)
      permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
    return e.transpose(term.x, permutation);
  }

  /// Multiplies two terms and sums over the labels that are no longer needed. A constant becomes the right operand, so
  /// that it can be a weight.
  Term contract(Term a, Term b, size_t later) {
    if (a.x.isConstant() && !b.x.isConstant())
      std::swap(a, b);
    SmallVector<int> both, summed, onlyA, onlyB;
    for (int label : a.labels) {
      bool shared = llvm::is_contained(b.labels, label);
      (!shared ? onlyA : isWanted(label, later) ? both : summed).push_back(label);
    }
    for (int label : b.labels)
      if (!llvm::is_contained(a.labels, label))
        onlyB.push_back(label);
    if (b.x.isConstant() && both.empty() && !summed.empty() && !onlyB.empty() && !onlyA.empty())
      return multiply(a, b, summed, onlyA, onlyB);
    // A constant gets, once and for all, the axis order that products read.
    if (b.x.isConstant()) {
      SmallVector<int> lies(both);
      llvm::append_range(lies, summed);
      llvm::append_range(lies, onlyB);
      b = {arranged(b, lies), lies};
    }
    std::map<int, char> letters;
    auto spell = [&](ArrayRef<int> labels) {
      std::string text;
      for (int label : labels) {
        size_t next = letters.size();
        char letter = char(next < 26 ? 'a' + next : 'A' + next - 26);
        text += letters.try_emplace(label, letter).first->second;
      }
      return text;
    };
    SmallVector<int> product(both);
    llvm::append_range(product, onlyA);
    llvm::append_range(product, onlyB);
    if (later == terms.size() && product.size() == result.size())
      product = result;
    if (product.size() + summed.size() > 51) { // and one for the member axis
      e.unsupported("more than 51 labels");
      return {};
    }
    std::string spec = spell(a.labels) + "," + spell(b.labels);
    spec += "->" + spell(product);
    return {e.contract(a.x, b.x, spec), product};
  }

  /// Multiplies rows by a matrix, with the labels of MatMul.
  Term multiply(const Term &a, const Term &b, ArrayRef<int> summed, ArrayRef<int> rows, ArrayRef<int> columns) {
    SmallVector<int> left(rows), right(summed), both(rows);
    llvm::append_range(left, summed);
    llvm::append_range(right, columns);
    llvm::append_range(both, columns);
    Operand x = arranged(a, left), w = arranged(b, right);
    if (!x || !w)
      return {};
    Sizes inner = w.sizes(), outer = x.sizes();
    for (auto [label, p, q] :
         llvm::zip_equal(summed, ArrayRef(outer).drop_front(rows.size()), ArrayRef(inner).take_front(summed.size())))
      if (p != q && !e.same(p, q)) {
        std::string name(1, label < 256 ? char(label) : '.');
        if (!e.restart)
          e.misfit(p, q, "lengths " + p.str() + " and " + q.str() + " of label '" + name + "'", "fit");
        return {};
      }
    std::optional<Size> k = product(ArrayRef(inner).take_front(summed.size())),
                        m = product(ArrayRef(inner).drop_front(summed.size()));
    if (!k || !m) {
      malformed("more elements than there are numbers");
      return {};
    }
    Sizes flat(ArrayRef(outer).take_front(rows.size())), wide = flat;
    flat.push_back(*k);
    llvm::append_range(wide, ArrayRef(inner).drop_front(summed.size()));
    std::optional<std::string> names = Emit::rowLabels(rows.size());
    if (!names) {
      e.unsupported("tensors of rank " + Twine(rows.size() + 1));
      return {};
    }
    Operand y = e.contract(e.reshape(x, flat), e.reshape(w, {*k, *m}), *names + "k,kn->" + *names + "n");
    return {e.reshape(y, wide), both};
  }
};

} // namespace

void importEinsum(Node &n) { Einsum(n).run(); }

} // namespace tutti
