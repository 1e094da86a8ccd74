// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects the results as JSON and puts them into the page, which draws them.
#include "Page.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

namespace digits {
namespace {

using Json = nlohmann::json;
constexpr size_t shown = 12;

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Four digits are enough to draw with.
Json rounded(const std::vector<double> &values) {
  Json out = Json::array();
  for (double v : values)
    out.push_back(std::round(v * 1e5) / 1e5);
  return out;
}

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "an unnamed CPU";
}

Json disputed(const TestSet &set, const Verdict &v) {
  std::vector<size_t> order(set.labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(-v.disagreement[a], a) < std::pair(-v.disagreement[b], b); });
  order.resize(std::min(order.size(), shown));
  Json out = Json::array();
  for (size_t i : order) {
    Json votes = Json::array();
    for (size_t m = 0; m < v.choice.size(); ++m)
      votes.push_back({v.choice[m][i], std::round(v.probability[m][i * classes + v.choice[m][i]] * 1e3) / 1e3});
    const float *image = &set.images[i * pixels];
    out.push_back({{"pixels", std::vector<float>(image, image + pixels)},
                   {"label", set.labels[i]},
                   {"answer", v.answer[i]},
                   {"disagreement", v.disagreement[i]},
                   {"votes", votes}});
  }
  return out;
}

} // namespace

std::optional<Facts> readFacts(const std::string &path, std::string &error) {
  Json json = Json::parse(readFile(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["kernels"].is_array() || !json["slots"].is_array() || !json["targets"].is_array()) {
    error = path + ": expected what tutti-inspect --json writes";
    return std::nullopt;
  }
  Facts facts;
  facts.kernels = json["kernels"].size();
  facts.slots = json["slots"].size();
  for (const Json &slot : json["slots"])
    facts.shared += slot.value("shared", false);
  facts.weightsBytes = json.value("weights_bytes", uint64_t(0));
  for (const Json &target : json["targets"]) {
    const Json &name = target.is_object() ? target.value("name", Json()) : target;
    if (name.is_string())
      facts.targets += (facts.targets.empty() ? "" : " and ") + name.get<std::string>();
  }
  return facts;
}

bool writePage(const std::string &pattern, const std::string &path, const TestSet &set, const Verdict &v,
               const Timing &timing, const Facts &facts, std::string &error) {
  Json curves = Json::array(), memberCurves = Json::array();
  for (const Curve &c : v.curves)
    curves.push_back({{"key", c.key}, {"name", c.name}, {"risk", rounded(c.risk)}, {"area", c.area}});
  for (const auto &risk : v.memberCurves)
    memberCurves.push_back(rounded(risk));
  Json data = {{"images", set.count()},
               {"accuracy", v.memberAccuracy},
               {"ensemble", {{"softmax", v.softmaxAccuracy}, {"mean", v.meanAccuracy}, {"vote", v.voteAccuracy}}},
               {"time",
                {{"ensemble_us", timing.ensemble},
                 {"singles_us", timing.singles},
                 {"threads", timing.threads},
                 {"calls", timing.calls}}},
               {"artifact",
                {{"launches", facts.launches},
                 {"kernels", facts.kernels},
                 {"weights_bytes", facts.weightsBytes},
                 {"shared", facts.shared},
                 {"slots", facts.slots},
                 {"compiler", facts.compiler},
                 {"targets", facts.targets}}},
               {"machine", machine()},
               {"curves", curves},
               {"members_curves", memberCurves},
               {"digits", disputed(set, v)}};

  std::string page = readFile(pattern), marker = "@DATA@", text = data.dump();
  for (size_t at = 0; (at = text.find('<', at)) != text.npos;) // nothing in it may end the script element
    text.replace(at, 1, "\\u003c");
  size_t at = page.find(marker);
  if (at == page.npos) {
    error = pattern + ": expected a page with the mark " + marker;
    return false;
  }
  page.replace(at, marker.size(), text);
  std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << page;
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
    error = path + ": cannot be written";
    return false;
  }
  return true;
}

} // namespace digits
