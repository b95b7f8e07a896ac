// Every measured row under the measured roof, as SVG.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"

namespace bench {

/// Two panels for one number of threads. Left, the roofline: GFLOP/s against flops per byte (rows with flops). Right:
/// measured time against the bound, with the lines of 100, 80 and 50 % (all rows; pure copies too).
std::string roofline_svg(const std::vector<Row>& rows, const Roof& roof);

/// Writes the plot; a name that ends in .png is converted with rsvg-convert. Throws std::runtime_error.
void write_roofline(const std::string& path, const std::vector<Row>& rows, const Roof& roof);

}  // namespace bench
