// A derivative by central differences.
#pragma once

namespace mluops::test {

/// (f at x + step - f at x - step) / (2 step); `f` reads `x`, which keeps its value.
template <class Function>
double central_difference(double& x, double step, Function&& f) {
  const double kept = x;
  x = kept + step;
  const double above = f();
  x = kept - step;
  const double below = f();
  x = kept;
  return (above - below) / (2 * step);
}

}  // namespace mluops::test
