// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions that are no product as they are spelled become one: the result's axes in another order, operands that
// change places, several labels summed over as one.
#include "Patterns.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Target.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace tutti {

namespace {

/// The fewest rows that read the same columns, and the fewest columns: fewer leave most of a tile empty.
constexpr int64_t leastRows = 4, leastColumns = 4;
/// The fewest terms of a sum for its result to be transposed once more.
constexpr int64_t leastTerms = 4;
/// The fewest products that an element takes part in for each time that it is copied.
constexpr int64_t leastUses = 8;

bool isAtLeast(const Size &size, int64_t least) { return !size.isFixed() || size.getFixed() >= least; }

std::string without(StringRef labels, StringRef others) {
  std::string left;
  llvm::copy_if(labels, std::back_inserter(left), [&](char label) { return !others.contains(label); });
  return left;
}

using LabelSizes = std::map<char, Size>;

/// A contraction as a product of rows and columns: terms are added in the order that they had.
class Spelling {
public:
  /// Spells the contraction with the operands in the other order, if `swapped`, and one of the right operand's labels
  /// as columns.
  Spelling(const ContractSpec &given, bool swapped, char column)
      : summed(given.contracted()), swapped(swapped),
        operands{swapped ? given.rhs : given.lhs, swapped ? given.lhs : given.rhs} {
    result = without(given.result, {&column, 1}) + column;
    isTurned = result != given.result;
    if (!hasTermsTogether(operands[0]) || !readsNeighbours(product()))
      copy(0, without(operands[0], summed) + summed);
    bool ends = operands[1].back() == column || operands[1].back() == summed.back();
    if (!hasTermsTogether(operands[1]) || !ends)
      copy(1, without(without(operands[1], summed), {&column, 1}) + summed + column);
  }

  std::string summed;      ///< in order
  bool swapped, isTurned;  ///< whether the result has another order of axes than was asked for
  std::string operands[2]; ///< their labels, as they are read
  bool isCopied[2] = {false, false};
  std::string result;

  /// The cost of a spelling, compared in this order: copies, a transposed result, a number of columns that a call
  /// decides, columns that are read transposed.
  auto cost(const LabelSizes &sizes) const {
    bool isFixed = sizes.at(result.back()).isFixed();
    return std::tuple(isCopied[0] + isCopied[1], isTurned, !isFixed, operands[1].back() == summed.back());
  }

  /// The labels with one in place of those summed over.
  std::string inOne(StringRef labels) const {
    std::string one = labels.str();
    size_t place = one.find(summed);
    return place == std::string::npos ? one : one.replace(place, summed.size(), 1, summed[0]);
  }
  ContractSpec product() const { return {inOne(operands[0]), inOne(operands[1]), result}; }

private:
  bool hasTermsTogether(StringRef labels) const { return labels.contains(summed); }
  void copy(unsigned operand, std::string labels) {
    isCopied[operand] = true;
    operands[operand] = std::move(labels);
  }
};

struct SpellAsProduct : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    ContractSpec spec = op.labels();
    Type element = op.getType().getElementType();
    bool hasTiles = element.isF32() || (element.isF64() && TargetTraits::of(op).tilesFloat64);
    if (!hasTiles || isRowsTimesWeight(op) || spec.contracted().empty() ||
        ProductForm::of(spec, op.getLhs().getType(), op.getRhs().getType(), op.getType()))
      return failure();
    Value operands[] = {op.getLhs(), op.getRhs()};
    LabelSizes sizes;
    for (auto [labels, operand] : {std::pair(&spec.lhs, op.getLhs()), std::pair(&spec.rhs, op.getRhs())})
      for (auto [label, size] : llvm::zip_equal(*labels, getSizes(operand.getType())))
        sizes[label] = size;

    char member = isLifted(op.getType()) ? spec.result[0] : 0;
    std::optional<Spelling> best;
    for (bool swapped : {false, true})
      for (char column : without(swapped ? spec.lhs : spec.rhs, swapped ? spec.rhs : spec.lhs)) {
        if (column == member)
          continue;
        Spelling now(spec, swapped, column);
        // Rows times a weight have sums in an order of their own, which tutti-decompose decides: none is made here.
        if (!now.isCopied[1] && now.summed.size() == 1 && isRowsTimesWeight(now.product(), operands[!swapped]))
          continue;
        if (isWorthIt(now, sizes) && (!best || now.cost(sizes) < best->cost(sizes)))
          best = now;
      }
    if (!best)
      return failure();

    Location loc = op.getLoc();
    auto typeOfLabels = [&](StringRef labels) {
      return getTensorType(llvm::map_to_vector(labels, [&](char label) { return sizes.at(label); }), element);
    };
    auto turned = [&](Value value, StringRef from, StringRef to) -> Value {
      auto places = llvm::map_to_vector(from, [&](char label) -> unsigned { return to.find(label); });
      return MapOp::create(rewriter, loc, typeOfLabels(to), value,
                           AffineMap::getPermutationMap(places, rewriter.getContext()));
    };
    Value parts[2];
    for (unsigned i = 0; i < 2; ++i) {
      bool isRight = best->swapped != (i == 1);
      parts[i] = operands[isRight];
      if (best->isCopied[i])
        parts[i] = turned(parts[i], isRight ? spec.rhs : spec.lhs, best->operands[i]);
    }
    if (best->summed.size() > 1) {
      Size terms = sizes.at(best->summed[0]);
      for (char label : StringRef(best->summed).drop_front())
        terms = *terms.times(sizes.at(label));
      sizes[best->summed[0]] = terms;
      for (unsigned i = 0; i < 2; ++i)
        parts[i] = ReshapeOp::create(rewriter, loc, typeOfLabels(best->inOne(best->operands[i])), parts[i]);
    }
    Value product = ContractOp::create(rewriter, loc, typeOfLabels(best->result), parts[0], parts[1],
                                       best->product().str(), NumericsAttr());
    rewriter.replaceOp(op, best->isTurned ? turned(product, best->result, spec.result) : product);
    return success();
  }

private:
  /// The number of elements that labels have; nothing if they are too many to count.
  static std::optional<Size> count(StringRef labels, const LabelSizes &sizes) {
    return product(llvm::map_to_vector(labels, [&](char label) { return sizes.at(label); }));
  }

  static bool isWorthIt(const Spelling &now, const LabelSizes &sizes) {
    auto isMany = [&](StringRef labels, int64_t least) {
      std::optional<Size> many = count(labels, sizes);
      return !many || isAtLeast(*many, least);
    };
    if (!count(now.summed, sizes)) // a tensor without elements may have axes of any lengths
      return false;
    std::string all = now.result + now.summed;
    for (unsigned i = 0; i < 2; ++i)
      if (now.isCopied[i] && !isMany(without(all, now.operands[i]), leastUses))
        return false;
    return isMany(without(now.operands[0], now.operands[1]), leastRows) &&
           isAtLeast(sizes.at(now.result.back()), leastColumns) && (!now.isTurned || isMany(now.summed, leastTerms));
  }
};

} // namespace

void addEinsumPatterns(RewritePatternSet &patterns) { patterns.add<SpellAsProduct>(patterns.getContext()); }

} // namespace tutti
