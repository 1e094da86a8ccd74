// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the digits, and judges answers: accuracy, disagreement, risk against coverage.
#include "Digits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

namespace digits {
namespace {

/// The data of a .npy file of version 1 that NumPy wrote in C order, with elements of dtype `descr`.
template <typename T> std::vector<T> readNpy(const std::string &path, std::string_view descr, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.size() < 10 || bytes.compare(0, 7, "\x93NUMPY\x01") != 0) {
    error = path + ": expected a .npy file of version 1";
    return {};
  }
  size_t start = 10 + static_cast<uint8_t>(bytes[8]) + 256 * static_cast<uint8_t>(bytes[9]);
  std::string_view header = std::string_view(bytes).substr(10, start - 10);
  if (start > bytes.size() || header.find(descr) == header.npos ||
      header.find("'fortran_order': False") == header.npos) {
    error = path + ": expected elements of type " + std::string(descr) + " in C order";
    return {};
  }
  std::vector<T> data((bytes.size() - start) / sizeof(T));
  std::memcpy(data.data(), bytes.data() + start, data.size() * sizeof(T));
  return data;
}

template <typename T> int64_t argmax(const T *values) { return std::max_element(values, values + classes) - values; }

double entropy(const double *p) {
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c)
    sum -= p[c] > 0 ? p[c] * std::log(p[c]) : 0;
  return sum;
}

double accuracy(const std::vector<int64_t> &choice, const std::vector<int64_t> &labels) {
  size_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    right += choice[i] == labels[i];
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

/// Answers the surest images first and notes the share of wrong ones so far.
std::vector<double> riskCurve(const std::vector<double> &doubt, const std::vector<int64_t> &choice,
                              const std::vector<int64_t> &labels) {
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(doubt[a], a) < std::pair(doubt[b], b); });
  std::vector<double> risk;
  double wrong = 0;
  for (size_t i : order) {
    wrong += choice[i] != labels[i];
    risk.push_back(wrong / static_cast<double>(risk.size() + 1));
  }
  return risk;
}

Curve curve(std::string key, std::string name, std::vector<double> risk) {
  double area = std::accumulate(risk.begin(), risk.end(), 0.0) / static_cast<double>(risk.size());
  return {std::move(key), std::move(name), std::move(risk), area};
}

} // namespace

std::optional<TestSet> readTestSet(const std::string &folder, std::string &error) {
  TestSet set;
  set.images = readNpy<float>(folder + "/images.npy", "'<f4'", error);
  set.labels = readNpy<int64_t>(folder + "/labels.npy", "'<i8'", error);
  if (error.empty() && (set.labels.empty() || set.images.size() != set.labels.size() * pixels))
    error = folder + ": expected 64 pixels for each label";
  return error.empty() ? std::optional(std::move(set)) : std::nullopt;
}

Verdict judge(const TestSet &set, const Answers &answers) {
  Verdict v;
  const int64_t n = set.count();
  std::vector<double> mean(n * classes), memberEntropy(n), totalEntropy(n);
  for (int64_t m = 0; m < answers.members; ++m) {
    std::vector<double> p(n * classes), doubt(n);
    std::vector<int64_t> choice(n);
    for (int64_t i = 0; i < n; ++i) {
      const float *logits = &answers.logits[(m * n + i) * classes];
      double *row = &p[i * classes], largest = logits[argmax(logits)], sum = 0;
      for (int64_t c = 0; c < classes; ++c)
        sum += row[c] = std::exp(logits[c] - largest);
      for (int64_t c = 0; c < classes; ++c)
        mean[i * classes + c] += (row[c] /= sum) / static_cast<double>(answers.members);
      choice[i] = argmax(logits);
      doubt[i] = entropy(row);
      memberEntropy[i] += doubt[i] / static_cast<double>(answers.members);
    }
    v.memberAccuracy.push_back(accuracy(choice, set.labels));
    v.memberCurves.push_back(riskCurve(doubt, choice, set.labels));
    v.probability.push_back(std::move(p));
    v.choice.push_back(std::move(choice));
  }

  std::vector<int64_t> byMean(n);
  std::vector<double> wrong(n), average(n);
  for (int64_t i = 0; i < n; ++i) {
    v.answer.push_back(argmax(&mean[i * classes]));
    byMean[i] = argmax(&answers.meanLogits[i * classes]);
    totalEntropy[i] = entropy(&mean[i * classes]);
    v.disagreement.push_back(std::max(0.0, totalEntropy[i] - memberEntropy[i]));
    wrong[i] = v.answer[i] != set.labels[i];
    for (const auto &risk : v.memberCurves)
      average[i] += risk[i] / static_cast<double>(answers.members);
  }
  v.softmaxAccuracy = accuracy(v.answer, set.labels);
  v.meanAccuracy = accuracy(byMean, set.labels);
  v.voteAccuracy = accuracy(answers.vote, set.labels);
  v.curves.push_back(curve("ensemble", "The ensemble, ordered by the members' disagreement",
                           riskCurve(v.disagreement, v.answer, set.labels)));
  v.curves.push_back(curve("entropy", "The ensemble, ordered by the entropy of its mean",
                           riskCurve(totalEntropy, v.answer, set.labels)));
  v.curves.push_back(curve(
      "member", "One member alone, ordered by its own entropy: the mean of all, each of which is drawn pale", average));
  v.curves.push_back(
      curve("ideal", "The best possible order: the ensemble's mistakes last", riskCurve(wrong, v.answer, set.labels)));
  return v;
}

} // namespace digits
