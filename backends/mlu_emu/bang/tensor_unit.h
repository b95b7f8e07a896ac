// Words of the tensor unit: declared, so that files which mention them compile; a fault that names them where they are
// called.
#pragma once

namespace mluops::emu::bang {

/// The fault of a word that is known but not modelled.
void not_modelled(const char* word);

#define MLUOPS_EMU_NOT_MODELLED(word) \
  template <class... Arguments>       \
  void word(const Arguments&...) {    \
    not_modelled(#word);              \
  }
MLUOPS_EMU_NOT_MODELLED(__bang_conv)
MLUOPS_EMU_NOT_MODELLED(__bang_conv_partial)
MLUOPS_EMU_NOT_MODELLED(__bang_matmul)
MLUOPS_EMU_NOT_MODELLED(__bang_reshape_filter)
MLUOPS_EMU_NOT_MODELLED(__bang_reshape_nchw2nhwc)
MLUOPS_EMU_NOT_MODELLED(__bang_expand_channel_mul)
MLUOPS_EMU_NOT_MODELLED(__bang_expand_channel_mul_add)
#undef MLUOPS_EMU_NOT_MODELLED

}  // namespace mluops::emu::bang
