// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of an image: gathered, so that each is a row in memory; or, for a product that can read its rows in place, a
// move of an image that has its margin, which lies in memory once instead of once an element of a window.
#include "Patterns.h"
#include "passes/analysis/LongRows.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Through.h"

using namespace mlir;

namespace tutti {

namespace {

/// The windows' elements at `places` of x (rows, image, channels), 0 where a place is -1: as (rows, windows, elements
/// channels). Where channels are few and the image is small, the gather is of one long row, whose elements have an
/// index each; else there is a row of channels for each element.
Value gathered(PatternRewriter &rewriter, Location loc, Value x, int64_t windows, ArrayRef<int64_t> places) {
  Sizes sizes = getSizes(typeOf(x));
  Type element = typeOf(x).getElementType();
  int64_t rows = sizes.size() - 2, image = sizes[rows].getFixed(), elements = places.size() / windows;
  int64_t channels = sizes.back().isFixed() ? sizes.back().getFixed() : 0;
  Sizes result(ArrayRef(sizes).take_front(rows));
  result.append({Size(windows), *sizes.back().times(Size(elements))});
  auto shaped = [&](Value value, const Sizes &to) -> Value {
    return getSizes(typeOf(value)) == to ? value : ReshapeOp::create(rewriter, loc, getTensorType(to, element), value);
  };

  SmallVector<int64_t> chosen(places), shape = {windows};
  if (elements != 1)
    shape.push_back(elements);
  bool isLong = isOneLongRow(channels, int64_t(places.size()));
  if (isLong) {
    // Channels that were brought behind the image stay before it.
    auto turn = x.getDefiningOp<TransposeOp>();
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
    std::swap(order[rows], order[rows + 1]);
    bool before = turn && turn.getPermutation() == ArrayRef<int64_t>(order);
    chosen = elementsOfPlaces(places, channels, image, before);
    shape = {int64_t(chosen.size())};
    Sizes row(ArrayRef(sizes).take_front(rows));
    row.push_back(Size(image * channels));
    x = shaped(before ? turn.getX() : x, row);
  }
  SmallVector<int64_t> inside, ofMask(shape);
  if (!isLong)
    ofMask.push_back(1); // all channels
  SmallVector<bool> mask;
  for (int64_t place : chosen) {
    inside.push_back(std::max<int64_t>(place, 0));
    mask.push_back(place >= 0);
  }
  auto constant = [&](DenseElementsAttr numbers) { return ConstantOp::create(rewriter, loc, numbers); };
  Value indices =
      constant(DenseElementsAttr::get(RankedTensorType::get(shape, rewriter.getI64Type()), ArrayRef(inside)));
  Value y = GatherOp::create(rewriter, loc, x, indices, rows, IntegerAttr());
  if (llvm::is_contained(mask, false)) {
    Value truths =
        constant(DenseElementsAttr::get(RankedTensorType::get(ofMask, rewriter.getI1Type()), ArrayRef(mask)));
    y = SelectOp::create(rewriter, loc, truths, y, ConstantOp::ofNumber(rewriter, loc, rewriter.getZeroAttr(element)));
  }
  return shaped(y, result);
}

/// The image x (rows, image, channels) with its margin, line by line: runs of neighbours and of zeros that all lines
/// have alike are copied whole. Where runs are short, elements are gathered one by one.
Value withMargin(PatternRewriter &rewriter, Location loc, Value x, ArrayRef<WindowAxis> margin, Outside outside) {
  constexpr size_t mostRuns = 32;
  constexpr int64_t shortest = 16; // elements of a run, on average
  Sizes sizes = getSizes(typeOf(x));
  Type element = typeOf(x).getElementType();
  int64_t rows = sizes.size() - 2, channels = sizes.back().isFixed() ? sizes.back().getFixed() : 0;
  SmallVector<int64_t> line = windowPlaces(margin.take_back(1), outside);
  SmallVector<std::pair<int64_t, int64_t>> runs; // where each begins, and how many places
  for (auto [i, place] : llvm::enumerate(line)) {
    bool goesOn = i > 0 && (place < 0 ? line[i - 1] < 0 : line[i - 1] >= 0 && place == line[i - 1] + 1);
    if (!goesOn)
      runs.push_back({place, 0});
    ++runs.back().second;
  }
  if (runs.size() > mostRuns || int64_t(line.size()) * channels < shortest * int64_t(runs.size())) {
    SmallVector<int64_t> places = windowPlaces(margin, outside);
    return gathered(rewriter, loc, x, places.size(), places);
  }

  SmallVector<int64_t> lines = windowPlaces(margin.drop_back(), outside); // -1: one of zeros
  int64_t width = margin.back().size, count = sizes[rows].getFixed() / width;
  auto shaped = [&](int64_t lines, int64_t places) { // rows, lines, and a line's elements
    Sizes all(ArrayRef(sizes).take_front(rows));
    all.append({Size(lines), Size(places * channels)});
    return getTensorType(all, element);
  };
  Value all = ReshapeOp::create(rewriter, loc, shaped(count, width), x);
  if (!llvm::equal(lines, llvm::seq(count)))
    all = gathered(rewriter, loc, all, lines.size(), lines);
  if (runs.size() > 1 || runs.front() != std::pair<int64_t, int64_t>(0, width)) {
    Value zero = ConstantOp::ofNumber(rewriter, loc, rewriter.getZeroAttr(element));
    AffineMap own = rewriter.getMultiDimIdentityMap(rows + 2),
              none = AffineMap::get(rows + 2, 0, rewriter.getContext());
    SmallVector<Value> parts;
    for (auto [place, length] : runs) {
      SmallVector<AffineExpr> from(own.getResults());
      from.back() = from.back() + place * channels;
      bool isZero = place < 0;
      parts.push_back(MapOp::create(rewriter, loc, shaped(lines.size(), length), isZero ? zero : all,
                                    isZero ? none : AffineMap::get(rows + 2, 0, from, own.getContext())));
    }
    all = ConcatOp::create(rewriter, loc, parts, rows + 1);
  }
  sizes[rows] = Size(lines.size() * line.size());
  return ReshapeOp::create(rewriter, loc, getTensorType(sizes, element), all);
}

/// The place in x (rows, image, channels) of an element of the windows, none of which leaves the image.
AffineMap placeOf(WindowsOp op, ArrayRef<WindowAxis> axes) {
  MLIRContext *context = op.getContext();
  RankedTensorType type = typeOf(op.getResult());
  int64_t rows = type.getRank() - 2, channels = typeOf(op.getX()).getShape().back();
  AffineExpr window = getAffineDimExpr(rows, context), term = getAffineDimExpr(rows + 1, context),
             place = getAffineConstantExpr(0, context);
  int64_t windows = 1, elements = channels, stride = 1;
  for (size_t axis = axes.size(); axis-- > 0;) {
    const WindowAxis &along = axes[axis];
    AffineExpr number = window.floorDiv(windows), element = term.floorDiv(elements);
    if (axis > 0) {
      number = number % along.count;
      element = element % along.length;
    }
    place = place + number * (along.stride * stride) + element * (along.gap * stride);
    windows *= along.count, elements *= along.length, stride *= along.size;
  }
  SmallVector<AffineExpr> exprs;
  for (int64_t row = 0; row < rows; ++row)
    exprs.push_back(getAffineDimExpr(row, context));
  exprs.push_back(place);
  exprs.push_back(channels == 1 ? getAffineConstantExpr(0, context) : term % channels);
  return AffineMap::get(type.getRank(), type.getNumDynamicDims(), exprs, context);
}

/// Windows of an image with its margin are windows of the image, which begin further before it.
struct WindowsOfMargin : OpRewritePattern<WindowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowsOp op, PatternRewriter &rewriter) const override {
    auto margin = op.getX().getDefiningOp<WindowsOp>();
    if (!margin || margin.getCount() != op.getImage() ||
        !llvm::all_of(margin.axes(), [](const WindowAxis &along) { return along.isMargin(); }))
      return failure();
    // Windows that leave the margin, too, need zeros around both.
    bool leaves = llvm::any_of(op.axes(), [](const WindowAxis &along) { return along.leavesImage(); });
    if (leaves && (op.getOutside() != Outside::zero || margin.getOutside() != Outside::zero))
      return failure();
    SmallVector<int64_t> before;
    for (auto [mine, more] : llvm::zip_equal(op.getBefore(), margin.getBefore()))
      before.push_back(mine + more);
    if (llvm::any_of(before, [](int64_t each) { return each >= mostAlongWindowAxis; }))
      return failure();
    rewriter.replaceOpWithNewOp<WindowsOp>(op, margin.getX(), op.getLength(), margin.getImage(), op.getCount(),
                                           op.getStep(), op.getGap(), before, margin.getOutside());
    return success();
  }
};

struct WindowsToMaps : OpRewritePattern<WindowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowsOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<WindowAxis> axes = op.axes();
    bool leaves = llvm::any_of(axes, [](const WindowAxis &along) { return along.leavesImage(); });
    SmallVector<WindowAxis> inside(axes);
    std::optional<SmallVector<WindowAxis>> margin = leaves ? takeMargin(inside) : std::nullopt;
    if (!isReadInPlace(op) || (leaves && !margin)) {
      // A CPU, which reads rows in place, has rows enough for all tasks where each is a line.
      bool isMargin = llvm::all_of(axes, [](const WindowAxis &along) { return along.isMargin(); });
      rewriter.replaceOp(op, isMargin && TargetTraits::of(op).readsInPlace
                                 ? withMargin(rewriter, loc, op.getX(), axes, op.getOutside())
                                 : gathered(rewriter, loc, op.getX(), llvm::product_of(op.getCount()),
                                            windowPlaces(axes, op.getOutside())));
      return success();
    }
    Value x = op.getX();
    if (leaves)
      x = withMargin(rewriter, loc, x, *margin, op.getOutside());
    AffineMap access = placeOf(op, inside);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) // each product has its own
      rewriter.modifyOpInPlace(use.getOwner(),
                               [&] { use.set(MapOp::create(rewriter, loc, typeOf(op.getResult()), x, access)); });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static bool isReadInPlace(WindowsOp op) {
    RankedTensorType type = typeOf(op.getResult());
    return TargetTraits::of(op).readsInPlace && ReadThrough::fits(type) && !op->use_empty() &&
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             auto contract = dyn_cast<ContractOp>(user);
             return contract && contract.getLhs() == op.getResult() && isRowsTimesWeight(contract);
           });
  }
};

} // namespace

void addMarginPatterns(RewritePatternSet &patterns) { patterns.add<WindowsOfMargin>(patterns.getContext()); }
void addWindowPatterns(RewritePatternSet &patterns) { patterns.add<WindowsToMaps>(patterns.getContext()); }

} // namespace tutti
