"""TinShift."""
from api.generate.describe import *

family("TinShift", "mluOpTinShiftForward and Backward of MLU-OPS 1.11; mmcv's tin_shift.",
       letters={"pixels": "P", "groups": "G"})

shape("mluopsTinShiftShape", "n, t, c, pixels /* t: 1 or more */; groups /* divides c */",
      "shifts are arbitrary numbers.")


def shift(input, output):
    """What both directions share, by their names of the tensors."""
    return dict(
        order=f"descs ranks layouts dtypes sizes({input} shifts {output}) not_empty(shifts) groups_ pixels_ dense "
              f"done_if_empty({input}) data overlap",
        keys="n t c p=pixels g=groups", say={"n": f"the batch of {input}"},
        rules={"groups_": rule("c >= 1 && c % groups == 0", "shifts: wanted a number of groups that divides the {c} channels of "
                                                            f"{input}, got {{groups}}"),
               "pixels_": rule("pixels >= 1", f"{input}: wanted 1 or more pixels, got {{shape_text({input})}}")})


operator("tin_shift_forward", "mluOpTinShiftForward", 86, doc="""Moves groups of channels along time, each by its own number of steps.

  output[n,t,c,p] = input[n, t - shifts[n,g], c, p],  g = c / (C/G);  0 where that step is outside [0,T-1]

T = 0: SUCCESS, nothing written. N, C, P or G = 0: BAD_PARAM. Cost: a copy. Source: Shao et al., "Temporal
Interlacing Network", AAAI 2020; mmcv's tin_shift; docs/op/tin_shift.md.""", args="""
    in input T any [n, t, c, pixels]
    in shifts INT32 [n, groups] -- C is a multiple of G. Any numbers.
    out output T any like input
    """, **shift("input", "output"))

operator("tin_shift_backward", "mluOpTinShiftBackward", 87, doc="""The gradient as the vendor's library and mmcv define it: a move of grad_output by shifts, in the direction of
mluOpTinShiftForward. The gradient of mluOpTinShiftForward itself is a move by -shifts.

  grad_input[n,t,c,p] = grad_output[n, t - shifts[n,g], c, p],  0 where that step is outside [0,T-1]""", args="""
    in grad_output T any [n, t, c, pixels]
    in shifts INT32 [n, groups]
    out grad_input T any like grad_output
    """, **shift("grad_output", "grad_input"))
