// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table and the JSON.
#include "Report.h"
#include "Precision.h"
#include "tools/common/Tool.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace tutti {

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), value == 0 ? "0" : "%.2e", value);
  return text;
}

static std::string verdictOf(const Verdict &v, bool ok) {
  std::string text = !ok ? "OUT" : v.comparesNothing() ? "nothing compared" : "ok";
  if (v.different)
    text += ", " + std::to_string(v.different) + " differ";
  if (v.undecided)
    text += ", " + std::to_string(v.undecided) + " undecided";
  return text;
}

/// The cells of a line, as many as there are columns.
static std::vector<std::string> cells(const Row &row) {
  const Verdict &v = row.whole;
  bool isFloat = v.bound > 0;
  std::string worst;
  if (!row.members.empty()) {
    size_t at = row.worst();
    const Verdict &member = row.members[at];
    worst = std::to_string(row.active[at]);
    worst += isFloat ? ": " + number(member.error) + " of " + number(member.bound) : "";
  }
  auto shown = [&](double value) { return isFloat ? number(value) : std::string("-"); };
  return {row.name,         row.head, std::to_string(v.elements), shown(v.error), shown(v.plain), shown(v.bound),
          shown(v.largest), worst,    verdictOf(v, row.ok())};
}

/// Whose error it is that bounds ours.
static std::string plainName(const Report &report) {
  bool isFloat32 = unitOf(report.precision) == 0;
  return isFloat32 ? "float32's" : stringifyPrecision(report.precision).str() + "'s";
}

static void printHead(const Report &report) {
  std::string text = report.seed ? "seed " + std::to_string(*report.seed) : "inputs from files";
  for (const auto &[name, size] : report.sizes)
    text += "; " + tool::shown(name) + " = " + std::to_string(size);
  auto counted = [](size_t n, const char *what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  if (report.precision != Precision::f32)
    text += "; precision " + stringifyPrecision(report.precision).str();
  std::printf("%s; %s; %s\n\n", text.c_str(), counted(report.active.size(), "member").c_str(),
              counted(report.threads, "thread").c_str());
}

static void printTable(std::vector<std::vector<std::string>> lines) {
  for (auto &line : lines)
    llvm::transform(line, line.begin(), [](const std::string &cell) { return tool::shown(cell); });
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto &line : lines)
    for (auto [width, cell] : llvm::zip_equal(widths, line))
      width = std::max(width, cell.size());
  for (const auto &line : lines) {
    std::string text;
    for (auto [width, cell] : llvm::zip_equal(widths, line))
      text += cell + std::string(width - cell.size() + 2, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    std::printf("%s\n", text.c_str());
  }
}

void print(const Report &report) {
  printHead(report);
  std::vector<std::vector<std::string>> lines = {
      {"output", "head", "elements", "error", plainName(report), "bound", "largest", "worst member", ""}};
  for (const Row &row : report.rows)
    lines.push_back(cells(row));
  printTable(lines);
  size_t good = llvm::count_if(report.rows, [](const Row &row) { return row.ok(); });
  size_t open = llvm::count_if(report.rows, [](const Row &row) { return row.whole.comparesNothing(); });
  std::string ofNone = open ? "; of " + std::to_string(open) + " nothing was compared" : "";
  std::printf("\n%s: %zu of %zu results within their bounds%s\n", report.ok() ? "ok" : "OUT OF BOUNDS", good,
              report.rows.size(), ofNone.c_str());
}

void printOps(const Report &report, bool all) {
  std::printf("\n");
  if (all) {
    std::vector<std::vector<std::string>> lines = {
        {"op", "elements", "error", plainName(report), "bound", "largest", "", "made from"}};
    for (const OpRow &row : *report.ops) {
      const Verdict &v = row.verdict;
      auto shown = [&](double value) { return v.bound > 0 ? number(value) : std::string("-"); };
      lines.push_back({row.op, std::to_string(v.elements), shown(v.error), shown(v.plain), shown(v.bound),
                       shown(v.largest), verdictOf(v, v.ok), row.node});
    }
    printTable(lines);
    std::printf("\n");
  }
  auto first = llvm::find_if(*report.ops, [](const OpRow &row) { return !row.verdict.ok; });
  if (first != report.ops->end())
    std::printf("op by op: the first out of bounds is %s, made from %s: error %s, bound %s\n", first->op.c_str(),
                first->node.c_str(), number(first->verdict.error).c_str(), number(first->verdict.bound).c_str());
  else
    std::printf("op by op: each of %zu ops by itself is within its bound%s\n", report.ops->size(),
                report.ok() ? "" : "; what differs is the artifact's weights, or how the ops are joined");
}

static nlohmann::ordered_json jsonOf(const Verdict &v) {
  return {{"elements", v.elements}, {"undecided", v.undecided}, {"different", v.different},   {"error", v.error},
          {"plain_error", v.plain}, {"bound", v.bound},         {"largest_error", v.largest}, {"ok", v.ok}};
}

static nlohmann::ordered_json jsonOf(const Report &report) {
  nlohmann::ordered_json all = {{"ok", report.ok() && report.opsOk()},
                                {"seed", nullptr},
                                {"sizes", report.sizes},
                                {"active", report.active},
                                {"threads", report.threads},
                                {"precision", stringifyPrecision(report.precision).str()}};
  if (report.seed)
    all["seed"] = *report.seed;
  all["outputs"] = nlohmann::ordered_json::array();
  for (const Row &row : report.rows) {
    nlohmann::ordered_json entry = {{"name", row.name}, {"head", row.head}, {"dtype", row.dtype}};
    entry.update(jsonOf(row.whole));
    entry["ok"] = row.ok();
    for (auto [index, member] : llvm::zip_equal(row.active, row.members)) {
      nlohmann::ordered_json each = {{"member", index}};
      each.update(jsonOf(member));
      entry["members"].push_back(each);
    }
    all["outputs"].push_back(entry);
  }
  for (const OpRow &row : report.ops.value_or(std::vector<OpRow>())) {
    nlohmann::ordered_json entry = {{"op", row.op}, {"node", row.node}};
    entry.update(jsonOf(row.verdict));
    all["ops"].push_back(entry);
  }
  return all;
}

std::string json(llvm::ArrayRef<Report> reports) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Report &report : reports)
    all.push_back(jsonOf(report));
  return (reports.size() == 1 ? all[0] : all).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace tutti
