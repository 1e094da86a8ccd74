// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials of the math functions, lowest power first: minimax fits (Remez) in 50 digits, each coefficient rounded to
// its format and the rest fitted again. Where a comment names two errors, the second table is the one for double.
#ifndef TUTTI_COMPILER_CODEGEN_MATH_COEFFICIENTS_H
#define TUTTI_COMPILER_CODEGEN_MATH_COEFFICIENTS_H

namespace tutti {

/// (e^r - 1 - r) / r^2, |r| <= ln2 / 2. Error in e^r: 2^-28.2 and 2^-63.5.
inline constexpr double kExp32[] = {0x1.fffffcp-2, 0x1.55548cp-3, 0x1.555862p-5, 0x1.123deap-7, 0x1.6aba6ep-10};
inline constexpr double kExp64[] = {0x1p-1,
                                    0x1.555555555555dp-3,
                                    0x1.555555555556cp-5,
                                    0x1.111111110e54bp-7,
                                    0x1.6c16c16c0a5f7p-10,
                                    0x1.a01a01b5f107p-13,
                                    0x1.a01a01e73aca6p-16,
                                    0x1.71ddeabdae49cp-19,
                                    0x1.27e44f965ff2fp-22,
                                    0x1.af741f9f25bb9p-26,
                                    0x1.2045b1b1a1e4dp-29};
/// (2^r - 1) / r, |r| <= 1/2. Error in 2^r: 2^-28.3 and 2^-59.7.
inline constexpr double kExp2_32[] = {0x1.62e43p-1, 0x1.ebfbdcp-3,  0x1.c6af7cp-5,
                                      0x1.3b2dep-7, 0x1.5f082ep-10, 0x1.416b5ep-13};
inline constexpr double kExp2_64[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58ep-3,  0x1.c6b08d704a1c3p-5,
                                      0x1.3b2ab6fba526bp-7,  0x1.5d87fe7879e0ep-10, 0x1.430912f6d8af1p-13,
                                      0x1.ffcbfd25f20f9p-17, 0x1.62c02a2397efep-20, 0x1.b5238904b3c85p-24,
                                      0x1.e4ad5d7bb544p-28,  0x1.ebdf0fb89332cp-32, 0x1.f83e2f0523d45p-36};
/// (e^r - 1 - r) / r^2, |r| <= ln2 / 2. Error in e^r - 1: 2^-26.1 and 2^-61.6.
inline constexpr double kExpm1_32[] = {0x1.fffffep-2, 0x1.5554aap-3, 0x1.555798p-5, 0x1.122bf6p-7, 0x1.6acad4p-10};
inline constexpr double kExpm1_64[] = {0x1p-1,
                                       0x1.5555555555559p-3,
                                       0x1.5555555555558p-5,
                                       0x1.111111110f723p-7,
                                       0x1.6c16c16c174c6p-10,
                                       0x1.a01a01af95bd2p-13,
                                       0x1.a01a0199b33b9p-16,
                                       0x1.71ddf93b74231p-19,
                                       0x1.27e502d7cc427p-22,
                                       0x1.af5d19d1fd354p-26,
                                       0x1.1f29b85b0ea02p-29};
/// (tanh(r) / r - 1) / r^2 in r^2, |r| <= 0.2558. Error in tanh(x): 2^-27.0 and 2^-56.9. The first is -1/3 rounded: in
/// a long chain of functions, whose values get smaller, errors there would add up.
inline constexpr double kTanh32[] = {-0x1.555556p-2, 0x1.10f61ep-3, -0x1.a87184p-5};
inline constexpr double kTanh64[] = {-0x1.55555555554d3p-2, 0x1.11111110f81f5p-3,  -0x1.ba1ba18685860p-5,
                                     0x1.664f2f303fe10p-6,  -0x1.22678bdd55785p-7, 0x1.d4e4894c42eaep-9,
                                     -0x1.57f9a177b2189p-10};
/// (log(1 + f) - f) / f^2, -1/4 <= f <= 1/2. Error in log(1 + f): 2^-27.5 and 2^-58.7.
inline constexpr double kLog32[] = {-0x1p-1,       0x1.5555acp-2, -0x1.000082p-2, 0x1.996722p-3, -0x1.54d70ap-3,
                                    0x1.2875cap-3, -0x1.0e874p-3, 0x1.b1c968p-4,  -0x1.79107p-5};
inline constexpr double kLog64[] = {
    -0x1.fffffffffffffp-2, 0x1.5555555555543p-2,  -0x1.00000000002b8p-2, 0x1.999999999d6f4p-3,  -0x1.5555555517b22p-3,
    0x1.249249222f8aap-3,  -0x1.0000001176e7bp-3, 0x1.c71c733ef915ep-4,  -0x1.9999958b6f1fdp-4, 0x1.745cd7ff4cdecp-4,
    -0x1.555557df55af5p-4, 0x1.3b199012ccafcp-4,  -0x1.249d5f11e4dd1p-4, 0x1.10cd0b3ba33c3p-4,  -0x1.fde3720aab549p-5,
    0x1.e2edbd08edfc2p-5,  -0x1.d9f063b4f2c7ep-5, 0x1.cf3acf7620978p-5,  -0x1.8037d0e902b3p-5,  0x1.ad83f766466fep-6,
    -0x1.c653d952c2cd1p-8};
/// erf(x) / x - 1 in x^2, x <= 0.9 (double: x <= 1). Error in erf(x): 2^-26.0 and 2^-56.3.
inline constexpr double kErfNear32[] = {0x1.06eba6p-3,  -0x1.8126ecp-2, 0x1.ce1b86p-4,
                                        -0x1.b69b8ep-6, 0x1.479c38p-8,  -0x1.3ba756p-11};
inline constexpr double kErfNear64[] = {0x1.06eba8214db69p-3,   -0x1.812746b037a25p-2,  0x1.ce2f21a0458d7p-4,
                                        -0x1.b82ce31354c55p-6,  0x1.565bcd2c60d25p-8,   -0x1.c02db93298cf8p-11,
                                        0x1.f9a3b94179e82p-14,  -0x1.f4dcefdf1972dp-17, 0x1.ba6900bf472aep-20,
                                        -0x1.63901cdfc3027p-23, 0x1.131d38b330d81p-26,  -0x1.c4a608e60b752p-30,
                                        0x1.3b8809f36231ap-33};
/// log2(1 - erf(x)), 0.9 <= x <= 3.95 (double: 1 <= x <= 6). Error in erf(x), absolute: 2^-29.2 and 2^-57.1.
inline constexpr double kErfFar32[] = {-0x1.0c8adap-12, -0x1.a082fap+0, -0x1.d69216p-1, -0x1.33645cp-3,
                                       0x1.0747e4p-5,   -0x1.20e5b2p-8, 0x1.2a47bap-12};
inline constexpr double kErfFar64[] = {-0x1.8d8d3f7f41ff4p-21, -0x1.a0be069286b69p+0,  -0x1.d6436ed9f549ap-1,
                                       -0x1.2f72bee70c93ap-3,  0x1.c0d28755c62dbp-6,   0x1.38cd27b659915p-11,
                                       -0x1.6ade62431c0c8p-9,  0x1.245d07ebeb6b3p-10,  -0x1.9d2b2dcf56722p-13,
                                       -0x1.d87dec417a7f3p-16, 0x1.10b00d6a75a9ep-15,  -0x1.9f46a1176734ep-17,
                                       0x1.997c9c5d55ef4p-19,  -0x1.1e3bbf6ea09d8p-21, 0x1.1c9b05ae07cddp-24,
                                       -0x1.81a46babae1f9p-28, 0x1.4075fe69d573p-32,   -0x1.ede038d2b8681p-38};
/// log2(erfc(t / sqrt 2)) / t, 0 <= t <= 5.625. Error in erfc, or an eighth of it where that is more: 2^-27.1.
inline constexpr double kNormalTail[] = {-0x1.26aec8p+0, -0x1.d63d8ep-2,  -0x1.ad9eacp-5,
                                         0x1.c75966p-8,  -0x1.1bfd9ep-19, -0x1.1fdb76p-12,
                                         0x1.2d0798p-14, -0x1.2e597cp-17, 0x1.fd7304p-22};
/// 2^r, |r| <= 1/2. Error in 2^r: 2^-22.9.
inline constexpr double kExp2Short[] = {0x1.000002p+0, 0x1.62e438p-1, 0x1.ebf80ap-3,
                                        0x1.c6a1bap-5, 0x1.3d5a24p-7, 0x1.660c9cp-10};
/// (sin(r) - r) / r^3 in r^2, |r| <= pi / 4. Error in sin(r): 2^-27.9.
inline constexpr double kSin[] = {-0x1.555546p-3, 0x1.110778p-7, -0x1.9954p-13};
/// (cos(r) - 1) / r^2 in r^2, |r| <= pi / 4. Error in cos(r): 2^-33.0.
inline constexpr double kCos[] = {-0x1p-1, 0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e832p-16};
/// (log(1 + f) - f) / f^2, -1/4 <= f <= 1/2; double, good for a float. Error in log(1 + f): 2^-35.7.
inline constexpr double kPowLog[] = {-0x1.00000001ab6ebp-1, 0x1.555554dd6661ep-2,  -0x1.fffff78dad758p-3,
                                     0x1.999a09c6231bp-3,   -0x1.555863d59c5abp-3, 0x1.24843a53ac62dp-3,
                                     -0x1.ff1ad4ac99a56p-4, 0x1.c7a5f4666b823p-4,  -0x1.a736c258c37e5p-4,
                                     0x1.89b1ea73017d1p-4,  -0x1.223ad0487ddbep-4, 0x1.b225419e81e29p-6};
/// (e^r - 1 - r) / r^2, |r| <= ln2 / 2; double, good for a float. Error in e^r: 2^-32.6.
inline constexpr double kPowExp[] = {0x1.0000003a71249p-1, 0x1.55555181f3151p-3,  0x1.55548889a8f4ep-5,
                                     0x1.1113f92397e8dp-7, 0x1.6d96abdcad447p-10, 0x1.9f77af529dab8p-13};

/// sqrt(1/2) as a sum of doubles.
inline constexpr double kSqrtHalf[] = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};
/// pi / 2 as a sum of floats, and of doubles.
inline constexpr double kHalfPiOfFloats[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};
inline constexpr double kHalfPiOfDoubles[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
/// 2 / pi, cut so that a float times each piece but the last is exact in double: 26 bits each.
inline constexpr double kTwoOverPi[] = {0x1.45f3068p-1,  0x1.7272208p-27,  0x1.4a7f09p-54,   0x1.abe8fa8p-79,
                                        0x1.a6ee06p-107, 0x1.b629598p-132, 0x1.3c439041p-160};

/// (log(1 + t) - t) / t^2, 0 <= t <= 1. Error in log(1 + t): 2^-27.5.
inline constexpr double kLog1pTo1[] = {-0x1.ffffd2p-2, 0x1.554df0p-2,  -0x1.ff26e0p-3, 0x1.935c9ep-3, -0x1.3a7a7ep-3,
                                       0x1.b579bap-4,  -0x1.d86314p-5, 0x1.4b0826p-6,  -0x1.b2f56ep-9};
/// 1 / d on [1, 2] to a part in 99: 1 - T3(2d - 3) / T3(-3) over d. Steps of Newton and Halley do the rest.
inline constexpr double kReciprocalTo2[] = {210.0 / 99, -144.0 / 99, 32.0 / 99};

/// (sinh(x) / x - 1) / x^2 in x^2, x <= 1. Error in sinh(x): 2^-34.2 and 2^-73.8.
inline constexpr double kSinh32[] = {0x1.555556p-3, 0x1.111134p-7, 0x1.9ffe92p-13, 0x1.7a15bep-19};
inline constexpr double kSinh64[] = {0x1.5555555555555p-3,  0x1.1111111111111p-7,  0x1.a01a01a019fc1p-13,
                                     0x1.71de3a5573f79p-19, 0x1.ae6456741b974p-26, 0x1.61246afa280dp-33,
                                     0x1.ae756e9d1101ep-41, 0x1.9a793fdb2afb4p-49};
/// (asin(x) / x - 1) / x^2 in x^2, x <= 1/2. Error in asin(x): 2^-27.6 and 2^-55.9.
inline constexpr double kAsin32[] = {0x1.5555c8p-3, 0x1.3301ecp-4, 0x1.747dbap-5, 0x1.8c2c6cp-6, 0x1.596a96p-5};
inline constexpr double kAsin64[] = {0x1.555555555539p-3,  0x1.333333336e7acp-4,  0x1.6db6db427dab1p-5,
                                     0x1.f1c72c38096a4p-6, 0x1.6e89f45455781p-6,  0x1.1c6be09154dc9p-6,
                                     0x1.c6fdd559dfd5ep-7, 0x1.8ec28476561ebp-7,  0x1.abd32bf086781p-8,
                                     0x1.3ff23358dd11bp-6, -0x1.09cf7c7030ffep-6, 0x1.056c38f1368d5p-5};
/// (atan(x) / x - 1) / x^2 in x^2, x <= 1. Error in atan(x): 2^-28.5 and 2^-57.6.
inline constexpr double kAtan32[] = {-0x1.55553ep-2, 0x1.9991fep-3,  -0x1.2421b8p-3, 0x1.c09a14p-4, -0x1.5834cep-4,
                                     0x1.dacaa6p-5,  -0x1.fed2cep-6, 0x1.65a7d2p-7,  -0x1.d6327p-10};
inline constexpr double kAtan64[] = {
    -0x1.5555555555526p-2, 0x1.999999999554ep-3,  -0x1.249249237e3bp-3,  0x1.c71c717f99ae1p-4,   -0x1.745d11ab493aep-4,
    0x1.3b136679b7be9p-4,  -0x1.110e50398e966p-4, 0x1.e1bb9c5e710d6p-5,  -0x1.ae5e496903bd1p-5,  0x1.82da547c58a2ep-5,
    -0x1.59a2bb1b3920dp-5, 0x1.2c2be9a1c3774p-5,  -0x1.e9f2a040e212bp-6, 0x1.683403c35194cp-6,   -0x1.c77fd761209b3p-7,
    0x1.d7a33d502b1f9p-8,  -0x1.7a23a73dee1ep-9,  0x1.b3dc8aa767235p-11, -0x1.3f1caa4db910fp-13, 0x1.bbc55d1c321f8p-17};
/// (tan(r) / r - 1) / r^2 in r^2, |r| <= pi / 4. Error in tan(r): 2^-29.6 and 2^-56.2.
inline constexpr double kTan32[] = {0x1.55556p-2,  0x1.110d8cp-3,  0x1.badc1cp-5, 0x1.5cad56p-6,
                                    0x1.631f64p-7, 0x1.6e6c1ep-14, 0x1.1ee028p-8};
inline constexpr double kTan64[] = {
    0x1.55555555554f1p-2, 0x1.1111111118359p-3,  0x1.ba1ba1b465d78p-5,  0x1.664f49a96823fp-6,  0x1.226e124007b1fp-7,
    0x1.d6d937517e4d8p-9, 0x1.7d5b32023ef77p-10, 0x1.37fbe9773f936p-11, 0x1.d260ef1a15f15p-13, 0x1.1e4938beaec8bp-13,
    -0x1.ba5e0e66251p-16, 0x1.771e250b098bbp-14, -0x1.785fbe8c6c08p-15, 0x1.5dfd74e97e4dfp-16};
/// (sin(r) / r - 1) / r^2 and (cos(r) - 1) / r^2 in r^2, |r| <= pi / 4, for double. Error in sin(r): 2^-68.7, in
/// cos(r): 2^-75.4.
inline constexpr double kSin64[] = {-0x1.5555555555555p-3, 0x1.111111111110bp-7,   -0x1.a01a01a018a6fp-13,
                                    0x1.71de3a5330a75p-19, -0x1.ae64528d8485cp-26, 0x1.61208c3ab188dp-33,
                                    -0x1.aaa2393fd9a51p-41};
inline constexpr double kCos64[] = {-0x1p-1,
                                    0x1.5555555555555p-5,
                                    -0x1.6c16c16c16c0ap-10,
                                    0x1.a01a01a01849bp-16,
                                    -0x1.27e4fb7581dap-22,
                                    0x1.1eed8c314be23p-29,
                                    -0x1.9392c97a557f7p-37,
                                    0x1.aa99e5979c87fp-45};

/// (2 artanh(s) / s - 2) / s^2 - 2/3, over s^2, in s^2, |s| <= 1/5: log((1 + s) / (1 - s)) to 2^-75.7.
inline constexpr double kLogPair[] = {0x1.999999999999ap-2, 0x1.24924924922bcp-2, 0x1.c71c71c756cc8p-3,
                                      0x1.745d172754033p-3, 0x1.3b13baaad096ep-3, 0x1.110f3f63dc611p-3,
                                      0x1.e252beab5ca43p-4, 0x1.a6d4593b5f877p-4, 0x1.dc9a6663bbd35p-4};
/// 2^(128 j) / 2 pi, cut into 26 bits each from 2^53 down, modulo 2^52: [piece][j]. For a double x, x 2^(-128 j) times
/// this is x / 2 pi but for whole turns.
inline constexpr double kTwoOverPiGroups[12][8] = {
    {0, 0x1.3abe8f8p+51, 0x1.163abdp+50, 0x1.25dd4p+49, 0x1.1afa9p+47, 0x1.1d6398p+50, 0x1.c4bffe8p+51, 0x1.b3f679p+51},
    {0, 0x1.4d377p+24, 0x1.d778acp+25, 0x1.3a32438p+25, 0x1.d768908p+25, 0x1.a99cfap+23, 0x1.c0b3018p+25,
     0x1.f2c26dp+24},
    {0x1.45f306p-3, 0x1.b6c52ap-3, 0x1.b7246ep-2, 0x1.fc3bd6p-3, 0x1.d338ep-3, 0x1.3908bep-3, 0x1.f797888p-1,
     0x1.a7a31f8p-1},
    {0x1.b9391p-28, 0x1.327887p-27, 0x1.d2126ep-29, 0x1.cb1298p-30, 0x1.35a2fap-29, 0x1.177bf2p-27, 0x1.16b4148p-27,
     0x1.9a797fp-28},
    {0x1.529fc2p-54, 0x1.041fe5p-54, 0x1.2e0064p-54, 0x1.39f744p-53, 0x1.f209cc8p-53, 0x1.41d8ff8p-53, 0x1.68fb698p-53,
     0x1.516ba9p-53},
    {0x1.d5f47dp-80, 0x1.63abdcp-82, 0x1.25dd41p-79, 0x1.1afa96p-81, 0x1.d6398p-82, 0x1.12fffb8p-79, 0x1.9fb3c9p-80,
     0x1.eeb1fap-80},
    {0x1.34ddcp-106, 0x1.5de2b08p-105, 0x1.d1921cp-106, 0x1.5da242p-105, 0x1.a99cfap-105, 0x1.02cc078p-105,
     0x1.e584db8p-105, 0x1.f2f8bd8p-105},
    {0x1.b6c52bp-131, 0x1.6e48dcp-131, 0x1.fc3bd6p-131, 0x1.d338ep-131, 0x1.3908bfp-131, 0x1.de5e23p-131,
     0x1.3d18fdp-132, 0x1.e839cep-133},
    {0x1.93c439p-158, 0x1.d2126e8p-157, 0x1.cb129ap-158, 0x1.35a2fb8p-157, 0x1.77bf24p-159, 0x1.6b414cp-159,
     0x1.34f2ffp-157, 0x1.bc52948p-157},
    {0x1.07f94p-188, 0x1.700324p-185, 0x1.cfba2p-184, 0x1.c82732p-183, 0x1.0763ffp-183, 0x1.a3eda68p-183,
     0x1.45aea48p-183, 0x1.7535fcp-185},
    {0x1.63abdep-210, 0x1.2eea09p-210, 0x1.1afa97p-209, 0x1.d63983p-210, 0x1.2fffbcp-211, 0x1.3f67938p-209,
     0x1.dd63f58p-209, 0x1.afd88f8p-209},
    {0x1.778ac3p-235, 0x1.a324398p-235, 0x1.7689098p-235, 0x1.4ce7d2p-236, 0x1.6603fp-240, 0x1.96136e8p-235,
     0x1.cbe2f6p-235, 0x1.1aba108p-235},
};

} // namespace tutti

#endif
