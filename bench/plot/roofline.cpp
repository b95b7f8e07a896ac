#include "bench/plot/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "bench/output/grid.h"
#include "bench/output/json.h"

namespace bench {
namespace {

/// What bounds a row, in the order of the legend.
struct Kind {
  std::string_view limit;
  const char *colour, *text;
};
constexpr Kind kKinds[] = {{"read", "#1b6ca8", "bound by reading"},
                           {"fill", "#c7601a", "bound by writing"},
                           {"copy", "#1d8a4e", "bound by reading and writing"},
                           {"fma", "#8a4fbf", "bound by arithmetic"}};

const char* colour(const Row& row) {
  return std::ranges::find(kKinds, std::string_view(row.limit()), &Kind::limit)->colour;
}

/// Whether the operator is the first of its family in the list: the forward one.
bool is_first(const Row& row) {
  const std::string& family = find_operator(row.op).family;
  const auto& all = all_operators();
  return std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.family == family; })->op == row.op;
}

/// One logarithmic panel and its place on the sheet.
struct Panel {
  double left, top, width, height;
  double x_low, x_high, y_low, y_high;

  double x(double v) const { return left + width * std::log(v / x_low) / std::log(x_high / x_low); }
  double y(double v) const { return top + height * (1 - std::log(v / y_low) / std::log(y_high / y_low)); }
};

double decade_below(double v) {
  return std::pow(10, std::floor(std::log10(v)));
}
double decade_above(double v) {
  return std::pow(10, std::ceil(std::log10(v)));
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text, int size = 12) {
  return format("<text x='%.1f' y='%.1f' font-size='%d' text-anchor='%s'>", x, y, size, anchor.c_str()) + text +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' %s/>\n", x1, y1, x2, y2, style);
}

// Frame, decades and titles of the axes.
std::string axes(const Panel& p, const char* title, const char* x_title, const char* y_title) {
  std::string svg = format("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='none' stroke='#444'/>\n", p.left,
                           p.top, p.width, p.height);
  const char* grid = "stroke='#ddd'";
  for (double v = p.x_low; v <= p.x_high * 1.01; v *= 10) {
    svg += line(p.x(v), p.top, p.x(v), p.top + p.height, grid) +
           text_at(p.x(v), p.top + p.height + 16, "middle", format("%g", v));
  }
  for (double v = p.y_low; v <= p.y_high * 1.01; v *= 10) {
    svg +=
        line(p.left, p.y(v), p.left + p.width, p.y(v), grid) + text_at(p.left - 6, p.y(v) + 4, "end", format("%g", v));
  }
  svg += text_at(p.left + p.width / 2, p.top - 12, "middle", title, 15);
  svg += text_at(p.left + p.width / 2, p.top + p.height + 36, "middle", x_title);
  const double x = p.left - 48, y = p.top + p.height / 2;
  return svg +
         format("<text x='%.1f' y='%.1f' font-size='12' text-anchor='middle' transform='rotate(-90 %.1f %.1f)'>", x, y,
                x, y) +
         y_title + "</text>\n";
}

// The first operator of a family is a disc, another a square, half is hollow; the name appears under the pointer.
std::string mark(const Row& row, double x, double y) {
  const std::string style = row.dtype == "half" ? format("fill='#fff' stroke='%s' stroke-width='1.6'", colour(row))
                                                : format("fill='%s'", colour(row));
  const std::string title = "<title>" + row.op + " " + row.shape + " " + row.dtype +
                            format(": %.3f ms, %.0f %% of the bound</title>", row.median() * 1e3, row.share() * 100);
  if (is_first(row)) {
    return format("<circle cx='%.1f' cy='%.1f' r='4' %s>", x, y, style.c_str()) + title + "</circle>\n";
  }
  return format("<rect x='%.1f' y='%.1f' width='7' height='7' %s>", x - 3.5, y - 3.5, style.c_str()) + title +
         "</rect>\n";
}

std::string roof_panel(const std::vector<Row>& rows, const Roof& roof) {
  double low = 0.1, slow = 1e9;
  for (const Row& r : rows) {
    if (r.flops > 0) low = std::min(low, r.flops / r.bytes()), slow = std::min(slow, r.flops / r.median());
  }
  const Panel p = {
      80, 60, 520, 400, decade_below(low), 1000, decade_below(slow * 1e-9), decade_above(roof.flops * 1e-9)};
  std::string svg = axes(p, "roofline", "flops per byte that must move", "GFLOP/s");
  const double peak = roof.flops * 1e-9, copy = roof.copy * 1e-9, ridge = peak / copy;
  const double start = std::max(p.x_low, p.y_low / copy);
  svg += line(p.x(start), p.y(start * copy), p.x(ridge), p.y(peak), "stroke='#000' stroke-width='2'");
  svg += line(p.x(ridge), p.y(peak), p.x(p.x_high), p.y(peak), "stroke='#000' stroke-width='2'");
  svg += text_at(p.x(p.x_high) - 6, p.y(peak) - 6, "end", format("fma %.0f GFLOP/s", peak));
  const double middle = std::sqrt(start * ridge);
  svg += text_at(p.x(middle) - 8, p.y(middle * copy) - 8, "end", format("copy %.1f GB/s", copy));
  for (const Row& r : rows) {
    if (r.flops > 0) svg += mark(r, p.x(r.flops / r.bytes()), p.y(r.flops / r.median() * 1e-9));
  }
  return svg;
}

std::string bound_panel(const std::vector<Row>& rows) {
  double low = 1e9, high = 0;
  const auto bound = [](const Row& r) { return r.bound() * 1e3; };
  for (const Row& r : rows) low = std::min(low, bound(r)), high = std::max(high, r.median() * 1e3);
  low = decade_below(low), high = decade_above(high);
  const Panel p = {700, 60, 520, 400, low, high, low, high};
  std::string svg = axes(p, "time against the bound (lines: 100, 80, 50 %)", "bound, ms", "median, ms");
  for (const double share : {1.0, 0.8, 0.5}) {
    const char* style = share == 1 ? "stroke='#000' stroke-width='2'" : "stroke='#888' stroke-dasharray='5 4'";
    svg += line(p.x(low), p.y(low / share), p.x(high * share), p.y(high), style);
  }
  for (const Row& r : rows) svg += mark(r, p.x(bound(r)), p.y(r.median() * 1e3));
  return svg;
}

std::string legend() {
  std::string svg;
  double x = 80;
  for (const Kind& kind : kKinds) {
    svg += format("<circle cx='%.1f' cy='530' r='5' fill='%s'/>\n", x, kind.colour) +
           text_at(x + 10, 534, "start", kind.text);
    x += 220;
  }
  return svg + text_at(80, 556, "start", "disc: forward, or the only one; square: backward; hollow: half");
}

}  // namespace

std::string roofline_svg(const std::vector<Row>& all, const Roof& roof) {
  std::vector<Row> rows;
  for (const Row& r : all) {
    if (r.measured() && !r.reduced && r.threads == roof.threads && r.backend == "cpu") rows.push_back(r);
  }
  if (rows.empty()) throw std::runtime_error("nothing to plot: no measured row of the cpu backend");
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' width='1260' height='580' font-family='sans-serif' fill='#222'>\n"
      "<rect width='1260' height='580' fill='#fff'/>\n";
  svg += text_at(630, 22, "middle", processor_name() + format(", %d threads, backend cpu", roof.threads), 14);
  return svg + roof_panel(rows, roof) + bound_panel(rows) + legend() + "</svg>\n";
}

void write_roofline(const std::string& path, const std::vector<Row>& rows, const Roof& roof) {
  const bool png = path.ends_with(".png");
  const std::string svg = png ? path.substr(0, path.size() - 4) + ".svg" : path;
  write_file(svg, roofline_svg(rows, roof));
  if (!png) return;
  const std::string command = "rsvg-convert -o '" + path + "' '" + svg + "'";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("the plot is in " + svg + "; rsvg-convert, which makes " + path +
                             " of it, failed or is not installed (./run deps plot)");
  }
}

}  // namespace bench
