"""IndiceMaxPool."""
from api.generate.describe import *

family("IndiceMaxPool", "mmcv's indice_maxpool.", includes="common/op/indice_pairs.h",
       problem_includes="mluops/problem/indice_convolution.h", numpy=False, letters={"offsets": "K", "places": "P"})

shape("mluopsIndiceMaxPoolShape", "inputs, outputs, c", "features [inputs,c], features_out [outputs,c].")

SAY = {"c": "the channels of features"}
KEYS = "l=inputs m=outputs c k={p.pairs.offsets}"

operator("indice_max_pool_forward", "mluOpExtIndiceMaxPoolForward", 49, doc="""Maximum pooling over the pairs that mluOpGetIndicePairs found.

  features_out[o,c] = the greatest of 0 and features[i,c] over all pairs (i, o); it passes over NaN
  The pairs of k are indice_pairs[k,0,p], indice_pairs[k,1,p], p < indice_num[k]. A pair with an index outside its
  tensor counts nothing.

A tensor empty: SUCCESS, nothing written. Cost: C comparisons a pair. Source: mmcv's indice_maxpool.""", args="""
    in features T any [inputs, c]
    in indice_pairs INT32 any [offsets, 2, places]
    host const int64_t indice_num[] py=indice_pair_num -- K numbers of pairs in the host's memory, each at most P
    out features_out T any [outputs, c]
    """,
    order="descs ranks(features indice_pairs) dtypes(features) countable(indice_pairs) "
          "hook(check_indice_pairs indice_pairs indice_num) ranks(features_out) dtypes(features_out) "
          "sizes(features features_out) dense indexable(features.0 features_out.0) "
          "done_if_empty(features indice_pairs features_out) data overlap",
    keys=KEYS,
    say=SAY,
    members="shape, mluopsIndicePairs pairs, features, features_out", fill={"pairs": "indice_pairs_of(indice_pairs, indice_num)"})

operator("indice_max_pool_backward", "mluOpExtIndiceMaxPoolBackward", 50, doc="""Gradient of mluOpExtIndiceMaxPoolForward.

  grad_input[i,c] = sum of grad_output[o,c] over the pairs (i, o) with features_out[o,c] = features[i,c]

T, empty and strided tensors: as in the forward function. Cost: C comparisons and additions a pair. Anything not
described here is as in the forward call.""", args="""
    in features T any [inputs, c]
    in features_out T any [outputs, c] -- as the forward function gave it
    in grad_output T like features_out
    in indice_pairs INT32 any [offsets, 2, places]
    host const int64_t indice_num[] py=indice_pair_num -- as in the forward function
    out grad_input T like features
    """,
    order="descs ranks(features indice_pairs) dtypes(features) countable(indice_pairs) "
          "hook(check_indice_pairs indice_pairs indice_num) ranks(features_out grad_output grad_input) "
          "dtypes(features_out grad_output grad_input) sizes(features features_out grad_output grad_input) dense "
          "indexable(features.0 features_out.0) "
          "done_if_empty(features features_out grad_output indice_pairs grad_input) data overlap",
    keys=KEYS,
    say=SAY,
    members="shape, mluopsIndicePairs pairs, features, features_out, grad_output, grad_input", fill={"pairs": "indice_pairs_of(indice_pairs, indice_num)"})
