// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the demo knows of digits: the test images, and what ten members' answers to them are worth.
#ifndef TUTTI_EXAMPLES_DIGITS_H
#define TUTTI_EXAMPLES_DIGITS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace digits {

inline constexpr int64_t classes = 10;
inline constexpr int64_t pixels = 64;

/// The images, 64 pixels in 0..1 each, and what they show.
struct TestSet {
  std::vector<float> images;
  std::vector<int64_t> labels;
  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

/// Reads images.npy and labels.npy. On failure nothing, and `error` says which file and why.
std::optional<TestSet> readTestSet(const std::string &folder, std::string &error);

/// What the artifact answered: the heads `members` (logits, [members, images, 10]), `mean` and `vote`.
struct Answers {
  int64_t members = 0;
  std::vector<float> logits;
  std::vector<float> meanLogits;
  std::vector<int64_t> vote;
};

/// Errors among the k + 1 surest answers, for every k; the area is their mean.
struct Curve {
  std::string key, name;
  std::vector<double> risk;
  double area = 0;
};

/// Everything that follows from the answers and the labels.
struct Verdict {
  std::vector<double> memberAccuracy;
  double softmaxAccuracy = 0, meanAccuracy = 0, voteAccuracy = 0;
  std::vector<std::vector<double>> probability; ///< [member][image * 10 + class]
  std::vector<std::vector<int64_t>> choice;     ///< [member][image]
  std::vector<int64_t> answer;                  ///< argmax of the members' mean probability
  std::vector<double> disagreement;             ///< mutual information of answer and member, in nats
  std::vector<Curve> curves;                    ///< the ensemble's by disagreement first
  std::vector<std::vector<double>> memberCurves;
};

Verdict judge(const TestSet &set, const Answers &answers);

} // namespace digits

#endif
