// What mluOpAdamWDescriptor_t points to.
#pragma once

struct mluOpAdamWStruct {
  double weight_decay = 0;
  double grad_scale = 1;
  bool use_nesterov = false;
  bool need_remove_nan = false;
};
