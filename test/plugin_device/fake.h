// What the fake library computes, whatever its inputs are.
#pragma once

namespace fake {

constexpr float kPsamask = 42.5f, kDistance = 7.25f;
constexpr int kIndex = 5;

}  // namespace fake
