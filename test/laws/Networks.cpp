// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The networks of law invariance: every kind of step, and widths that leave remainders.
#include "Networks.h"

namespace tutti::laws {

static const std::vector<Network> all = {
    // Widths that leave remainders of every kind, and a reduction of several chunks.
    {"mlp",
     R"mlir(func.func @main(%x: tensor<?x300xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
         %w0 = tutti.get @w0 : tensor<300x77xf32>
         %b0 = tutti.get @b0 : tensor<77xf32>
         %w1 = tutti.get @w1 : tensor<77x45xf32>
         %b1 = tutti.get @b1 : tensor<45xf32>
         %w2 = tutti.get @w2 : tensor<45x3xf32>
         %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x300xf32, #tutti.sizes<batch>>, tensor<300x77xf32>
         %1 = tutti.add %0, %b0 : tensor<?x77xf32, #tutti.sizes<batch>>, tensor<77xf32>
         %2 = tutti.relu %1 : tensor<?x77xf32, #tutti.sizes<batch>>
         %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x77xf32, #tutti.sizes<batch>>, tensor<77x45xf32>
         %4 = tutti.add %3, %b1 : tensor<?x45xf32, #tutti.sizes<batch>>, tensor<45xf32>
         %5 = tutti.mish %4 : tensor<?x45xf32, #tutti.sizes<batch>>
         %6 = tutti.contract %5, %w2 "bk,kn->bn" : tensor<?x45xf32, #tutti.sizes<batch>>, tensor<45x3xf32>
         return %6 : tensor<?x3xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w0", {300, 77}}, {"b0", {77}}, {"w1", {77, 45}}, {"b1", {45}}, {"w2", {45, 3}}}},
    {"norm",
     R"mlir(func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> tensor<?x33xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<33x33xf32>
         %g = tutti.get @g : tensor<33xf32>
         %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<33x33xf32>
         %1 = tutti.add %0, %x : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<?x33xf32, #tutti.sizes<batch>>
         %2 = tutti.reduce mean %1 [1] : tensor<?x33xf32, #tutti.sizes<batch>>
         %3 = tutti.sub %1, %2 : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %4 = tutti.mul %3, %3 : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<?x33xf32, #tutti.sizes<batch>>
         %5 = tutti.reduce mean %4 [1] : tensor<?x33xf32, #tutti.sizes<batch>>
         %e = tutti.constant dense<1.0e-5> : tensor<f32>
         %6 = tutti.add %5, %e : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<f32>
         %7 = tutti.sqrt %6 : tensor<?x1xf32, #tutti.sizes<batch>>
         %8 = tutti.div %3, %7 : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %9 = tutti.mul %8, %g : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<33xf32>
         return %9 : tensor<?x33xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {33, 33}}, {"g", {33}}}},
    // A column that is narrower than its sums.
    {"one16",
     R"mlir(func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> tensor<?x1xbf16, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<33x1xf32>
         %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<33x1xf32>
         %1 = tutti.cast %0 : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?x1xbf16, #tutti.sizes<batch>>
         return %1 : tensor<?x1xbf16, #tutti.sizes<batch>>
       })mlir",
     {{"w", {33, 1}}}},
    // A row of squares ends where a single number of each row begins to live, between the same two contractions.
    {"moments",
     R"mlir(func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<8x64xf32>
         %v = tutti.get @v : tensor<64x3xf32>
         %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x64xf32>
         %1 = tutti.reduce mean %0 [1] : tensor<?x64xf32, #tutti.sizes<batch>>
         %2 = tutti.mul %0, %0 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
         %3 = tutti.reduce mean %2 [1] : tensor<?x64xf32, #tutti.sizes<batch>>
         %4 = tutti.mul %1, %1 : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %5 = tutti.sub %3, %4 : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %6 = tutti.sqrt %5 : tensor<?x1xf32, #tutti.sizes<batch>>
         %7 = tutti.sub %0, %1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %8 = tutti.div %7, %6 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %9 = tutti.contract %8, %v "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x3xf32>
         return %9 : tensor<?x3xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {8, 64}}, {"v", {64, 3}}}},
    {"softmax",
     R"mlir(func.func @main(%x: tensor<?x101xf32, #tutti.sizes<batch>>) -> tensor<?x101xf32, #tutti.sizes<batch>> {
         %s = tutti.get @s : tensor<101xf32>
         %0 = tutti.mul %x, %s : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<101xf32>
         %1 = tutti.reduce max %0 [1] : tensor<?x101xf32, #tutti.sizes<batch>>
         %2 = tutti.sub %0, %1 : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %3 = tutti.exp %2 : tensor<?x101xf32, #tutti.sizes<batch>>
         %4 = tutti.reduce sum %3 [1] : tensor<?x101xf32, #tutti.sizes<batch>>
         %5 = tutti.div %3, %4 : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         return %5 : tensor<?x101xf32, #tutti.sizes<batch>>
       })mlir",
     {{"s", {101}}}},
    // So few terms that their sums are made where a function takes them, by fours and what is left.
    {"narrow",
     R"mlir(func.func @main(%x: tensor<?x2xf32, #tutti.sizes<batch>>) -> tensor<?x1xf32, #tutti.sizes<batch>> {
         %c = tutti.get @c : tensor<2xf32>
         %w = tutti.get @w : tensor<2x13xf32>
         %b = tutti.get @b : tensor<13xf32>
         %v = tutti.get @v : tensor<13x1xf32>
         %0 = tutti.sub %x, %c : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2xf32>
         %1 = tutti.contract %0, %w "bk,kn->bn" : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2x13xf32>
         %2 = tutti.add %1, %b : tensor<?x13xf32, #tutti.sizes<batch>>, tensor<13xf32>
         %3 = tutti.tanh %2 : tensor<?x13xf32, #tutti.sizes<batch>>
         %4 = tutti.contract %3, %v "bk,kn->bn" : tensor<?x13xf32, #tutti.sizes<batch>>, tensor<13x1xf32>
         %s = tutti.get @s : tensor<f32>
         %5 = tutti.neg %s : tensor<f32>
         %6 = tutti.exp %5 : tensor<f32>
         %7 = tutti.mul %4, %6 : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<f32>
         return %7 : tensor<?x1xf32, #tutti.sizes<batch>>
       })mlir",
     {{"c", {2}}, {"w", {2, 13}}, {"b", {13}}, {"v", {13, 1}}, {"s", {}}}},
    // What is computed of the input alone is the same for all members, once or by each.
    {"front",
     R"mlir(func.func @main(%x: tensor<?x9xf32, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
         %s = tutti.constant dense<[0.5, 3.0, 7.0, 0.1, -0.3, 1.0, 0.7, 1.5, 0.9]> : tensor<9xf32>
         %w = tutti.get @w : tensor<18x5xf32>
         %b = tutti.get @b : tensor<5xf32>
         %0 = tutti.div %x, %s : tensor<?x9xf32, #tutti.sizes<batch>>, tensor<9xf32>
         %1 = tutti.reduce mean %0 [1] : tensor<?x9xf32, #tutti.sizes<batch>>
         %2 = tutti.sub %0, %1 : tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %3 = tutti.sin %x : tensor<?x9xf32, #tutti.sizes<batch>>
         %4 = tutti.concat %2, %3 axis 1 : tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x9xf32, #tutti.sizes<batch>>
         %5 = tutti.contract %4, %w "bk,kn->bn" : tensor<?x18xf32, #tutti.sizes<batch>>, tensor<18x5xf32>
         %6 = tutti.add %5, %b : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5xf32>
         return %6 : tensor<?x5xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {18, 5}}, {"b", {5}}}},
    // What is made of several rows, and goes on to layers in the shape without their axis.
    {"pooled",
     R"mlir(func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
         %p = tutti.slice %x from [0, 0] size [-1, 30] step [1, 1] : tensor<?x33xf32, #tutti.sizes<batch>>
         %q = tutti.reshape %p : tensor<?x30xf32, #tutti.sizes<batch>> -> tensor<?x6x5xf32, #tutti.sizes<batch>>
         %u = tutti.slice %x from [0, 30] size [-1, 3] step [1, 1] : tensor<?x33xf32, #tutti.sizes<batch>>
         %w = tutti.get @w : tensor<5x18xf32>
         %v = tutti.get @v : tensor<39x7xf32>
         %b = tutti.get @b : tensor<7xf32>
         %o = tutti.get @o : tensor<7x4xf32>
         %0 = tutti.contract %q, %w "bsk,kn->bsn" : tensor<?x6x5xf32, #tutti.sizes<batch>>, tensor<5x18xf32>
         %1 = tutti.relu %0 : tensor<?x6x18xf32, #tutti.sizes<batch>>
         %2 = tutti.reduce mean %1 [1] : tensor<?x6x18xf32, #tutti.sizes<batch>>
         %3 = tutti.reshape %2 : tensor<?x1x18xf32, #tutti.sizes<batch>> -> tensor<?x18xf32, #tutti.sizes<batch>>
         %4 = tutti.reduce max %1 [1] : tensor<?x6x18xf32, #tutti.sizes<batch>>
         %5 = tutti.reshape %4 : tensor<?x1x18xf32, #tutti.sizes<batch>> -> tensor<?x18xf32, #tutti.sizes<batch>>
         %6 = tutti.concat %3, %5, %u axis 1 : tensor<?x18xf32, #tutti.sizes<batch>>, tensor<?x18xf32, #tutti.sizes<batch>>, tensor<?x3xf32, #tutti.sizes<batch>>
         %7 = tutti.contract %6, %v "bk,kn->bn" : tensor<?x39xf32, #tutti.sizes<batch>>, tensor<39x7xf32>
         %8 = tutti.add %7, %b : tensor<?x7xf32, #tutti.sizes<batch>>, tensor<7xf32>
         %9 = tutti.reduce max %8 [1] : tensor<?x7xf32, #tutti.sizes<batch>>
         %10 = tutti.sub %8, %9 : tensor<?x7xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %11 = tutti.contract %10, %o "bk,kn->bn" : tensor<?x7xf32, #tutti.sizes<batch>>, tensor<7x4xf32>
         return %11 : tensor<?x4xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {5, 18}}, {"v", {39, 7}}, {"b", {7}}, {"o", {7, 4}}}},
    // Bags of categories: the mean of rows of one table, the sum of rows of another that a mask lets through.
    {"bags",
     R"mlir(func.func @main(%x: tensor<?x12xf32, #tutti.sizes<batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
         %t = tutti.get @t : tensor<6x18xf32>
         %u = tutti.get @u : tensor<5x7xf32>
         %w = tutti.get @w : tensor<25x4xf32>
         %0 = tutti.slice %x from [0, 0] size [-1, 7] step [1, 1] : tensor<?x12xf32, #tutti.sizes<batch>>
         %1 = tutti.cast %0 : tensor<?x7xf32, #tutti.sizes<batch>> -> tensor<?x7xi64, #tutti.sizes<batch>>
         %2 = tutti.gather %t at %1 axis 0 : tensor<6x18xf32>, tensor<?x7xi64, #tutti.sizes<batch>>
         %3 = tutti.reduce mean %2 [1] : tensor<?x7x18xf32, #tutti.sizes<batch>>
         %4 = tutti.reshape %3 : tensor<?x1x18xf32, #tutti.sizes<batch>> -> tensor<?x18xf32, #tutti.sizes<batch>>
         %5 = tutti.slice %x from [0, 7] size [-1, 5] step [1, 1] : tensor<?x12xf32, #tutti.sizes<batch>>
         %6 = tutti.cast %5 : tensor<?x5xf32, #tutti.sizes<batch>> -> tensor<?x5xi64, #tutti.sizes<batch>>
         %7 = tutti.gather %u at %6 axis 0 : tensor<5x7xf32>, tensor<?x5xi64, #tutti.sizes<batch>>
         %8 = tutti.relu %5 : tensor<?x5xf32, #tutti.sizes<batch>>
         %9 = tutti.reshape %8 : tensor<?x5xf32, #tutti.sizes<batch>> -> tensor<?x5x1xf32, #tutti.sizes<batch>>
         %10 = tutti.mul %7, %9 : tensor<?x5x7xf32, #tutti.sizes<batch>>, tensor<?x5x1xf32, #tutti.sizes<batch>>
         %11 = tutti.reduce sum %10 [1] : tensor<?x5x7xf32, #tutti.sizes<batch>>
         %12 = tutti.reshape %11 : tensor<?x1x7xf32, #tutti.sizes<batch>> -> tensor<?x7xf32, #tutti.sizes<batch>>
         %13 = tutti.concat %4, %12 axis 1 : tensor<?x18xf32, #tutti.sizes<batch>>, tensor<?x7xf32, #tutti.sizes<batch>>
         %14 = tutti.contract %13, %w "bk,kn->bn" : tensor<?x25xf32, #tutti.sizes<batch>>, tensor<25x4xf32>
         return %14 : tensor<?x4xf32, #tutti.sizes<batch>>
       })mlir",
     {{"t", {6, 18}}, {"u", {5, 7}}, {"w", {25, 4}}}},
    // Columns that are indices: each gather reads them where they lie, and rows of a table are read as one.
    {"tables",
     R"mlir(func.func @main(%x: tensor<?x7xf32, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
         %t = tutti.get @t : tensor<4x3xf32>
         %u = tutti.get @u : tensor<3x6xf32>
         %w = tutti.get @w : tensor<19x5xf32>
         %0 = tutti.slice %x from [0, 4] size [-1, 1] step [1, 1] : tensor<?x7xf32, #tutti.sizes<batch>>
         %1 = tutti.cast %0 : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?x1xi64, #tutti.sizes<batch>>
         %2 = tutti.reshape %1 : tensor<?x1xi64, #tutti.sizes<batch>> -> tensor<?xi64, #tutti.sizes<batch>>
         %3 = tutti.gather %t at %2 axis 0 : tensor<4x3xf32>, tensor<?xi64, #tutti.sizes<batch>>
         %4 = tutti.slice %x from [0, 5] size [-1, 2] step [1, 1] : tensor<?x7xf32, #tutti.sizes<batch>>
         %5 = tutti.cast %4 : tensor<?x2xf32, #tutti.sizes<batch>> -> tensor<?x2xi64, #tutti.sizes<batch>>
         %6 = tutti.gather %u at %5 axis 0 : tensor<3x6xf32>, tensor<?x2xi64, #tutti.sizes<batch>>
         %7 = tutti.reshape %6 : tensor<?x2x6xf32, #tutti.sizes<batch>> -> tensor<?x12xf32, #tutti.sizes<batch>>
         %8 = tutti.slice %x from [0, 0] size [-1, 4] step [1, 1] : tensor<?x7xf32, #tutti.sizes<batch>>
         %9 = tutti.concat %3, %7, %8 axis 1 : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<?x12xf32, #tutti.sizes<batch>>, tensor<?x4xf32, #tutti.sizes<batch>>
         %10 = tutti.contract %9, %w "bk,kn->bn" : tensor<?x19xf32, #tutti.sizes<batch>>, tensor<19x5xf32>
         return %10 : tensor<?x5xf32, #tutti.sizes<batch>>
       })mlir",
     {{"t", {4, 3}}, {"u", {3, 6}}, {"w", {19, 5}}}},
    {"twin",
     R"mlir(func.func @main(%x: tensor<?x17xf32, #tutti.sizes<batch>>) -> tensor<?x2xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<17x256xf32>
         %v = tutti.get @v : tensor<256x1xf32>
         %u = tutti.get @u : tensor<256x1xf32>
         %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x17xf32, #tutti.sizes<batch>>, tensor<17x256xf32>
         %1 = tutti.tanh %0 : tensor<?x256xf32, #tutti.sizes<batch>>
         %2 = tutti.contract %1, %v "bk,kn->bn" : tensor<?x256xf32, #tutti.sizes<batch>>, tensor<256x1xf32>
         %3 = tutti.sigmoid %1 : tensor<?x256xf32, #tutti.sizes<batch>>
         %4 = tutti.contract %3, %u "bk,kn->bn" : tensor<?x256xf32, #tutti.sizes<batch>>, tensor<256x1xf32>
         %5 = tutti.concat %2, %4 axis 1 : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         return %5 : tensor<?x2xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {17, 256}}, {"v", {256, 1}}, {"u", {256, 1}}}},
    // What rows read transposed is copied block by block: some columns at a time, all of them for phases of a row, and
    // of rows that lie apart.
    {"transposed",
     R"mlir(func.func @main(%x: tensor<?x2310xf32, #tutti.sizes<batch>>) -> tensor<?x33x70xf32, #tutti.sizes<batch>> {
         %b = tutti.get @b : tensor<33x70xf32>
         %0 = tutti.reshape %x : tensor<?x2310xf32, #tutti.sizes<batch>> -> tensor<?x70x33xf32, #tutti.sizes<batch>>
         %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x70x33xf32, #tutti.sizes<batch>>
         %2 = tutti.add %1, %b : tensor<?x33x70xf32, #tutti.sizes<batch>>, tensor<33x70xf32>
         %3 = tutti.tanh %2 : tensor<?x33x70xf32, #tutti.sizes<batch>>
         return %3 : tensor<?x33x70xf32, #tutti.sizes<batch>>
       })mlir",
     {{"b", {33, 70}}}},
    {"phases",
     R"mlir(func.func @main(%x: tensor<?x735xf32, #tutti.sizes<batch>>) -> tensor<?x21x35xf32, #tutti.sizes<batch>> {
         %b = tutti.get @b : tensor<21x35xf32>
         %0 = tutti.reshape %x : tensor<?x735xf32, #tutti.sizes<batch>> -> tensor<?x35x21xf32, #tutti.sizes<batch>>
         %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x35x21xf32, #tutti.sizes<batch>>
         %2 = tutti.add %1, %b : tensor<?x21x35xf32, #tutti.sizes<batch>>, tensor<21x35xf32>
         %3 = tutti.reduce sum %1 [2] : tensor<?x21x35xf32, #tutti.sizes<batch>>
         %4 = tutti.mul %2, %3 : tensor<?x21x35xf32, #tutti.sizes<batch>>, tensor<?x21x1xf32, #tutti.sizes<batch>>
         return %4 : tensor<?x21x35xf32, #tutti.sizes<batch>>
       })mlir",
     {{"b", {21, 35}}}},
    {"planes",
     R"mlir(func.func @main(%x: tensor<?x714xf32, #tutti.sizes<batch>>) -> tensor<?x17x6x7xf32, #tutti.sizes<batch>> {
         %b = tutti.get @b : tensor<17x6x7xf32>
         %0 = tutti.reshape %x : tensor<?x714xf32, #tutti.sizes<batch>> -> tensor<?x7x6x17xf32, #tutti.sizes<batch>>
         %1 = tutti.transpose %0 [0, 3, 2, 1] : tensor<?x7x6x17xf32, #tutti.sizes<batch>>
         %2 = tutti.add %1, %b : tensor<?x17x6x7xf32, #tutti.sizes<batch>>, tensor<17x6x7xf32>
         return %2 : tensor<?x17x6x7xf32, #tutti.sizes<batch>>
       })mlir",
     {{"b", {17, 6, 7}}}},
    // Few columns a row, which a vector takes from places that it is told: patches of an input, and of what a layer
    // made.
    {"scattered",
     R"mlir(func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x7x5x2xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<12x70xf32>
         %b = tutti.get @b : tensor<7x5x2xf32>
         %r = tutti.reshape %x : tensor<?x72xf32, #tutti.sizes<batch>> -> tensor<?x3x4x3x2xf32, #tutti.sizes<batch>>
         %0 = tutti.transpose %r [0, 2, 1, 3, 4] : tensor<?x3x4x3x2xf32, #tutti.sizes<batch>>
         %1 = tutti.reshape %0 : tensor<?x4x3x3x2xf32, #tutti.sizes<batch>> -> tensor<?x6x12xf32, #tutti.sizes<batch>>
         %2 = tutti.contract %1, %w "bsk,kn->bsn" : tensor<?x6x12xf32, #tutti.sizes<batch>>, tensor<12x70xf32>
         %3 = tutti.reduce max %2 [1] : tensor<?x6x70xf32, #tutti.sizes<batch>>
         %4 = tutti.reshape %3 : tensor<?x1x70xf32, #tutti.sizes<batch>> -> tensor<?x5x7x2xf32, #tutti.sizes<batch>>
         %5 = tutti.transpose %4 [0, 2, 1, 3] : tensor<?x5x7x2xf32, #tutti.sizes<batch>>
         %6 = tutti.mul %5, %b : tensor<?x7x5x2xf32, #tutti.sizes<batch>>, tensor<7x5x2xf32>
         return %6 : tensor<?x7x5x2xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {12, 70}}, {"b", {7, 5, 2}}}},
    // Layers of pixels as exporters write them, with channels in front: scale by channel, another layer, the largest
    // and the
    // mean of each channel.
    {"pixels",
     R"mlir(func.func @main(%x: tensor<?x60xf32, #tutti.sizes<batch>>) -> tensor<?x18xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<3x7xf32>
         %v = tutti.get @v : tensor<7x9xf32>
         %c = tutti.get @c : tensor<7x1x1xf32>
         %r = tutti.reshape %x : tensor<?x60xf32, #tutti.sizes<batch>> -> tensor<?x3x4x5xf32, #tutti.sizes<batch>>
         %0 = tutti.transpose %r [0, 2, 3, 1] : tensor<?x3x4x5xf32, #tutti.sizes<batch>>
         %1 = tutti.reshape %0 : tensor<?x4x5x3xf32, #tutti.sizes<batch>> -> tensor<?x20x3xf32, #tutti.sizes<batch>>
         %2 = tutti.contract %1, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
         %3 = tutti.transpose %2 [0, 2, 1] : tensor<?x20x7xf32, #tutti.sizes<batch>>
         %4 = tutti.reshape %3 : tensor<?x7x20xf32, #tutti.sizes<batch>> -> tensor<?x7x4x5xf32, #tutti.sizes<batch>>
         %5 = tutti.mul %4, %c : tensor<?x7x4x5xf32, #tutti.sizes<batch>>, tensor<7x1x1xf32>
         %6 = tutti.tanh %5 : tensor<?x7x4x5xf32, #tutti.sizes<batch>>
         %7 = tutti.transpose %6 [0, 2, 3, 1] : tensor<?x7x4x5xf32, #tutti.sizes<batch>>
         %8 = tutti.reshape %7 : tensor<?x4x5x7xf32, #tutti.sizes<batch>> -> tensor<?x20x7xf32, #tutti.sizes<batch>>
         %9 = tutti.contract %8, %v "bsk,kn->bsn" : tensor<?x20x7xf32, #tutti.sizes<batch>>, tensor<7x9xf32>
         %10 = tutti.transpose %9 [0, 2, 1] : tensor<?x20x9xf32, #tutti.sizes<batch>>
         %11 = tutti.tanh %10 : tensor<?x9x20xf32, #tutti.sizes<batch>>
         %12 = tutti.reduce max %11 [2] : tensor<?x9x20xf32, #tutti.sizes<batch>>
         %13 = tutti.reduce mean %11 [2] : tensor<?x9x20xf32, #tutti.sizes<batch>>
         %14 = tutti.concat %12, %13 axis 1 : tensor<?x9x1xf32, #tutti.sizes<batch>>, tensor<?x9x1xf32, #tutti.sizes<batch>>
         %15 = tutti.reshape %14 : tensor<?x18x1xf32, #tutti.sizes<batch>> -> tensor<?x18xf32, #tutti.sizes<batch>>
         return %15 : tensor<?x18xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {3, 7}}, {"v", {7, 9}}, {"c", {7, 1, 1}}}},
    // Scores, their softmax and what they weigh, of two heads: products of two values, one after the other.
    {"attention",
     R"mlir(func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x9x8xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<8x16xf32>
         %v = tutti.get @v : tensor<8x8xf32>
         %r = tutti.reshape %x : tensor<?x72xf32, #tutti.sizes<batch>> -> tensor<?x9x8xf32, #tutti.sizes<batch>>
         %0 = tutti.contract %r, %w "bsk,kn->bsn" : tensor<?x9x8xf32, #tutti.sizes<batch>>, tensor<8x16xf32>
         %1 = tutti.reshape %0 : tensor<?x9x16xf32, #tutti.sizes<batch>> -> tensor<?x9x2x8xf32, #tutti.sizes<batch>>
         %2 = tutti.transpose %1 [0, 2, 1, 3] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
         %3 = tutti.transpose %1 [0, 2, 3, 1] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
         %4 = tutti.contract %2, %3 "bhsk,bhkt->bhst" : tensor<?x2x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x9xf32, #tutti.sizes<batch>>
         %5 = tutti.reduce max %4 [3] : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
         %6 = tutti.sub %4, %5 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>, tensor<?x2x9x1xf32, #tutti.sizes<batch>>
         %7 = tutti.exp %6 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
         %8 = tutti.reduce sum %7 [3] : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
         %9 = tutti.div %7, %8 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>, tensor<?x2x9x1xf32, #tutti.sizes<batch>>
         %10 = tutti.contract %9, %2 "bhst,bhtk->bhsk" : tensor<?x2x9x9xf32, #tutti.sizes<batch>>, tensor<?x2x9x8xf32, #tutti.sizes<batch>>
         %11 = tutti.reduce mean %10 [1] : tensor<?x2x9x8xf32, #tutti.sizes<batch>>
         %12 = tutti.reshape %11 : tensor<?x1x9x8xf32, #tutti.sizes<batch>> -> tensor<?x9x8xf32, #tutti.sizes<batch>>
         %13 = tutti.contract %12, %v "bsk,kn->bsn" : tensor<?x9x8xf32, #tutti.sizes<batch>>, tensor<8x8xf32>
         return %13 : tensor<?x9x8xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {8, 16}}, {"v", {8, 8}}}},
    // Rows of few columns, several of which share a vector: a row's own number beside them, and numbers of the columns.
    {"packed",
     R"mlir(func.func @main(%x: tensor<?x6xf32, #tutti.sizes<batch>>) -> tensor<?x1xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<6x8xf32>
         %b = tutti.get @b : tensor<8xf32>
         %v = tutti.get @v : tensor<8x3xf32>
         %c = tutti.get @c : tensor<3xf32>
         %u = tutti.get @u : tensor<3x1xf32>
         %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<6x8xf32>
         %1 = tutti.tanh %0 : tensor<?x8xf32, #tutti.sizes<batch>>
         %2 = tutti.mul %1, %b : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8xf32>
         %3 = tutti.reduce max %2 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
         %4 = tutti.sub %2, %3 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %5 = tutti.exp %4 : tensor<?x8xf32, #tutti.sizes<batch>>
         %6 = tutti.contract %5, %v "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x3xf32>
         %7 = tutti.mul %6, %c : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
         %8 = tutti.reduce max %7 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
         %9 = tutti.sub %7, %8 : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
         %10 = tutti.exp %9 : tensor<?x3xf32, #tutti.sizes<batch>>
         %11 = tutti.sigmoid %10 : tensor<?x3xf32, #tutti.sizes<batch>>
         %12 = tutti.contract %11, %u "bk,kn->bn" : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3x1xf32>
         %13 = tutti.sigmoid %12 : tensor<?x1xf32, #tutti.sizes<batch>>
         return %13 : tensor<?x1xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {6, 8}}, {"b", {8}}, {"v", {8, 3}}, {"c", {3}}, {"u", {3, 1}}}},
    // Columns of the input that each member chose for itself.
    {"chosen",
     R"mlir(func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
         %i = tutti.get @i : tensor<5xi64>
         %w = tutti.get @w : tensor<5x3xf32>
         %0 = tutti.gather %x at %i axis 1 : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<5xi64>
         %1 = tutti.contract %0, %w "bk,kn->bn" : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5x3xf32>
         return %1 : tensor<?x3xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {5, 3}}},
     {{"i", {5}}}},
    // Rows that are read through windows of an image: one that all members share, with a margin, and one of each
    // member, whose sums are of several chunks; of one column more than a vector has, and of a few by lanes.
    {"windows",
     R"mlir(func.func @main(%x: tensor<?x60xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
         %w = tutti.get @w : tensor<18x45xf32>
         %b = tutti.get @b : tensor<45xf32>
         %v = tutti.get @v : tensor<270x5xf32>
         %0 = tutti.reshape %x : tensor<?x60xf32, #tutti.sizes<batch>> -> tensor<?x30x2xf32, #tutti.sizes<batch>>
         %1 = tutti.windows %0 of [3, 3] in [5, 6] count [3, 6] step [2, 1] gap [1, 1] before [1, 1] : tensor<?x30x2xf32, #tutti.sizes<batch>>
         %2 = tutti.contract %1, %w "bsk,kn->bsn" : tensor<?x18x18xf32, #tutti.sizes<batch>>, tensor<18x45xf32>
         %3 = tutti.add %2, %b : tensor<?x18x45xf32, #tutti.sizes<batch>>, tensor<45xf32>
         %4 = tutti.tanh %3 : tensor<?x18x45xf32, #tutti.sizes<batch>>
         %5 = tutti.windows %4 of [2, 3] in [3, 6] count [2, 4] step [1, 1] gap [1, 1] before [0, 0] : tensor<?x18x45xf32, #tutti.sizes<batch>>
         %6 = tutti.contract %5, %v "bsk,kn->bsn" : tensor<?x8x270xf32, #tutti.sizes<batch>>, tensor<270x5xf32>
         %7 = tutti.reshape %6 : tensor<?x8x5xf32, #tutti.sizes<batch>> -> tensor<?x40xf32, #tutti.sizes<batch>>
         return %7 : tensor<?x40xf32, #tutti.sizes<batch>>
       })mlir",
     {{"w", {18, 45}}, {"b", {45}}, {"v", {270, 5}}}},
    // Rows are columns for a while: what several read of a row has no fixed length.
    {"columns",
     R"mlir(func.func @main(%x: tensor<?x7xf32, #tutti.sizes<batch>>) -> tensor<?x7xf32, #tutti.sizes<batch>> {
         %0 = tutti.transpose %x [1, 0] : tensor<?x7xf32, #tutti.sizes<batch>>
         %1 = tutti.reduce sum %0 [0] : tensor<7x?xf32, #tutti.sizes<batch>>
         %2 = tutti.exp %1 : tensor<1x?xf32, #tutti.sizes<batch>>
         %3 = tutti.mul %2, %1 : tensor<1x?xf32, #tutti.sizes<batch>>, tensor<1x?xf32, #tutti.sizes<batch>>
         %4 = tutti.add %0, %3 : tensor<7x?xf32, #tutti.sizes<batch>>, tensor<1x?xf32, #tutti.sizes<batch>>
         %5 = tutti.transpose %4 [1, 0] : tensor<7x?xf32, #tutti.sizes<batch>>
         return %5 : tensor<?x7xf32, #tutti.sizes<batch>>
       })mlir",
     {}},
};

const std::vector<Network> &networks() { return all; }

} // namespace tutti::laws
