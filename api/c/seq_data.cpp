#include <algorithm>
#include <cstring>
#include <vector>

#include "api/c/boundary.h"
#include "common/dtype.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;

struct mluOpSeqDataStruct {
  mluOpSeqDataLayout_t layout = MLUOP_SEQDATA_NBTC;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  std::vector<std::int64_t> sizes = {};
  std::int64_t length_count = 0;
  std::vector<std::int64_t> lengths = {};        // empty: not given
  std::vector<unsigned char> padding_fill = {};  // empty: not given
  int position = 0;
  float scale = 1;
};

mluOpStatus_t mluOpCreateSeqDataDescriptor(mluOpSeqDataDescriptor_t* seq_data_desc) {
  return guard(__func__, {{"seq_data_desc", seq_data_desc}}, [&] { *seq_data_desc = new mluOpSeqDataStruct; });
}

mluOpStatus_t mluOpSetSeqDataDescriptor_v2(mluOpSeqDataDescriptor_t seq_data_desc, mluOpSeqDataLayout_t layout,
                                           mluOpDataType_t dtype, int dimNb, const int64_t dimSize[],
                                           int seqLengthArraySize, const int seqLengthArray[], void* paddingFill) {
  return guard(__func__, {{"seq_data_desc", seq_data_desc}, {"dimSize", dimSize}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("layout", layout, 0, MLUOP_SEQDATA_NT));
    if (dtype_size(dtype) == 0) return Status::bad_param("dtype: wanted a type, got none");
    MLUOPS_RETURN_IF_FINISHED(op::in_range("dimNb", dimNb, 1, MLUOP_DIM_MAX));
    MLUOPS_RETURN_IF_FINISHED(op::at_least("seqLengthArraySize", seqLengthArraySize, 0));
    for (int i = 0; i < dimNb; ++i) MLUOPS_RETURN_IF_FINISHED(op::at_least("dimSize", dimSize[i], 0));
    mluOpSeqDataStruct made{layout, dtype, std::vector<std::int64_t>(dimSize, dimSize + dimNb), seqLengthArraySize};
    for (int i = 0; seqLengthArray != nullptr && i < seqLengthArraySize; ++i) {
      MLUOPS_RETURN_IF_FINISHED(op::at_least("seqLengthArray", seqLengthArray[i], 1));
      made.lengths.push_back(seqLengthArray[i]);
    }
    if (const auto* const fill = static_cast<const unsigned char*>(paddingFill)) {
      made.padding_fill.assign(fill, fill + dtype_size(dtype));
    }
    made.position = seq_data_desc->position, made.scale = seq_data_desc->scale;
    *seq_data_desc = std::move(made);
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetSeqDataDescriptor_v2(const mluOpSeqDataDescriptor_t seq_data_desc, mluOpSeqDataLayout_t* layout,
                                           mluOpDataType_t* dtype, int* dimNb, int64_t dimSize[],
                                           int64_t* seqLengthArraySize, int64_t seqLengthArray[], void* paddingFill) {
  return guard(__func__, {{"seq_data_desc", seq_data_desc}}, [&] {
    const mluOpSeqDataStruct& held = *seq_data_desc;
    if (layout != nullptr) *layout = held.layout;
    if (dtype != nullptr) *dtype = held.dtype;
    if (dimNb != nullptr) *dimNb = static_cast<int>(held.sizes.size());
    if (dimSize != nullptr) std::copy(held.sizes.begin(), held.sizes.end(), dimSize);
    if (seqLengthArraySize != nullptr) *seqLengthArraySize = held.length_count;
    if (seqLengthArray != nullptr) std::copy(held.lengths.begin(), held.lengths.end(), seqLengthArray);
    if (paddingFill != nullptr && !held.padding_fill.empty()) {
      std::memcpy(paddingFill, held.padding_fill.data(), held.padding_fill.size());
    }
  });
}

mluOpStatus_t mluOpSetSeqDataDescriptorPositionAndScale(mluOpSeqDataDescriptor_t seq_data_desc, int position,
                                                        float scale) {
  return guard(__func__, {{"seq_data_desc", seq_data_desc}}, [&] {
    seq_data_desc->position = position;
    seq_data_desc->scale = scale;
  });
}

mluOpStatus_t mluOpDestroySeqDataDescriptor(mluOpSeqDataDescriptor_t seq_data_desc) {
  return guard(__func__, {{"seq_data_desc", seq_data_desc}}, [&] { delete seq_data_desc; });
}
