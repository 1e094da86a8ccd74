// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials of the math functions, lowest power first: minimax fits (Remez) in 50 digits, each coefficient rounded to
// its format and the rest fitted again. Where a comment names two errors, the second table is the one for double.
#pragma once

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
/// (2^r - 1) / r, |r| <= 1/2. Error in 2^r: 2^-27.5 and 2^-59.7.
inline constexpr double kExp2_32[] = {0x1.62e432p-1, 0x1.ebfbe6p-3,  0x1.c6ada8p-5,
                                      0x1.3b21cap-7, 0x1.5fbcfap-10, 0x1.4bd7c4p-13};
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
/// (tanh(x) / x - 1) / x^2 in x^2, x <= 0.55. Error in tanh(x): 2^-29.7 and 2^-65.0.
inline constexpr double kTanhNear32[] = {-0x1.55554ap-2, 0x1.110ceep-3, -0x1.b91e7ep-5, 0x1.58e518p-6, -0x1.9921aap-8};
inline constexpr double kTanhNear64[] = {-0x1.5555555555555p-2,  0x1.111111111108p-3,    -0x1.ba1ba1ba10e22p-5,
                                         0x1.664f487f8e56dp-6,   -0x1.226e34cf7282cp-7,  0x1.d6d3b103d104p-9,
                                         -0x1.7da1040b62a4fp-10, 0x1.35390716ddf44p-11,  -0x1.f34a386491056p-13,
                                         0x1.88da6c7794b3fp-14,  -0x1.113bde615f789p-15, 0x1.e4ebc0dcfb8bap-18};
/// (e^2r - 1 - 2r) / r^2, |r| <= ln2 / 4. Error in e^2r: 2^-28.2 and 2^-63.4.
inline constexpr double kTanhFar32[] = {0x1.fffffcp+0, 0x1.555488p+0, 0x1.55584ep-1, 0x1.124096p-2, 0x1.6ad5d8p-4};
inline constexpr double kTanhFar64[] = {0x1p+1,
                                        0x1.555555555555ep+0,
                                        0x1.5555555555571p-1,
                                        0x1.111111110e0bep-2,
                                        0x1.6c16c16c06c4fp-4,
                                        0x1.a01a01b7a7919p-6,
                                        0x1.a01a0201a7e6cp-8,
                                        0x1.71dde684291a5p-10,
                                        0x1.27e40557a3093p-12,
                                        0x1.af7b68b7cec51p-15,
                                        0x1.20d0c05310db9p-17};
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

/// 2 / pi, cut so that a float times each piece but the last is exact in double: 26 bits each.
inline constexpr double kTwoOverPi[] = {0x1.45f3068p-1,  0x1.7272208p-27, 0x1.4a7f09p-54,
                                        0x1.abe8fa8p-79, 0x1.a6ee06p-107, 0x1.b6295993cp-132};

/// (log(1 + t) - t) / t^2, 0 <= t <= 1. Error in log(1 + t): 2^-27.5.
inline constexpr double kLog1pTo1[] = {-0x1.ffffd2p-2,  0x1.554df0p-2,  -0x1.ff26e0p-3, 0x1.935c9ep-3, -0x1.3a7a7ep-3,
                                       0x1.b579bap-4, -0x1.d86314p-5, 0x1.4b0826p-6,  -0x1.b2f56ep-9};
/// 1 / d on [1, 2] and on [1, 5] to a part in 99 and in 23: the first 1 - T3(2d - 3) / T3(-3), the second
/// 1 - T4((d - 3) / 2) / T4(-3/2), both over d. Steps of Newton and Halley do the rest.
inline constexpr double kReciprocalTo2[] = {210.0 / 99, -144.0 / 99, 32.0 / 99};
inline constexpr double kReciprocalTo5[] = {84.0 / 47, -50.0 / 47, 12.0 / 47, -1.0 / 47};

} // namespace tutti
