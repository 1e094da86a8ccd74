# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about Einstein sums."""


def add_cases(case, node, rng, i64, f32):
    for name, equation, shapes, constants in (
            ("matmul", "bk,kn->bn", [(3, 8)], [(8, 5)]), ("weight-first", "nk, bk -> bn", [(3, 8)], [(5, 8)]),
            ("implicit", "ij,jk", [(3, 4)], [(4, 5)]), ("implicit-order", "ba", [(3, 4)], []),
            ("heads", "btd,dhe->bhte", [(2, 3, 4)], [(4, 2, 5)]), ("join-heads", "bhte,hed->btd", [(2, 2, 3, 5)], [(2, 5, 4)]),
            ("attention", "bhqe,bhke->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)], []), ("ellipsis", "...k,kn->...n", [(2, 3, 4)], [(4, 5)]),
            ("ellipsis-broadcast", "...ij,...jk->...ik", [(2, 3, 4, 5), (3, 5, 2)], []), ("ellipsis-unit", "...ij,...jk", [(2, 1, 4, 5)], [(3, 5, 2)]),
            ("diagonal", "bii->bi", [(2, 4, 4)], []), ("trace", "bii->b", [(2, 4, 4)], []), ("diagonal-apart", "bjij->bi", [(2, 3, 4, 3)], []),
            ("transposed", "bij->bji", [(2, 3, 4)], []), ("sums", "bij->b", [(2, 3, 4)], []), ("alone", "bij,jk->b", [(2, 3, 4)], [(4, 5)]),
            ("outer", "bi,bj->bij", [(2, 3), (2, 4)], []), ("bilinear", "bi,oij,bj->bo", [(2, 3), (2, 4)], [(5, 3, 4)]),
            ("three", "bi,ij,jk->bk", [(2, 3)], [(3, 4), (4, 5)]), ("elementwise", "bi,bi->bi", [(2, 3), (2, 3)], []),
            ("dot", "bi,bi->b", [(2, 3), (2, 3)], []), ("scaled", "bi,->bi", [(2, 3)], [()]),
            ("channels", "btc,csu,ct->bsuc", [(5, 9, 8)], [(8, 10, 2), (8, 9)]), ("of-each-channel", "btc,cst->bsc", [(5, 9, 8)], [(8, 10, 9)]),
            ("vector", "btd,d->bt", [(2, 3, 4)], [(4,)])):
        named = {f"x{i}": rng(*shape, seed=i) for i, shape in enumerate(shapes)}
        weights = {f"w{i}": rng(*shape, seed=20 + i) for i, shape in enumerate(constants)}
        order = list(named) + list(weights)
        if name == "weight-first":
            order.reverse()
        if name == "bilinear":
            order = ["x0", "w0", "x1"]
        case(f"einsum-{name}", 12, [node("Einsum", order, equation=equation)], named, weights,
             batch=name not in ("ellipsis-broadcast",))
