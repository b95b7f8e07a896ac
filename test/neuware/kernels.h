// What the kernel files of this folder offer to the program that tests them. Pointers are device memory.
#pragma once

#include <cnrt.h>

#include <cstdint>

namespace neuware_test {

// language.mlu, language_twin.mlu
void scale_float(cnrtQueue_t queue, float* out, const float* in, int n, float factor);
void scale_half(cnrtQueue_t queue, void* out, const void* in, int n, float factor);
void literals_of_half(cnrtQueue_t queue, void* out);
void who_am_i(cnrtQueue_t queue, cnrtDim3_t dim, cnrtFunctionType_t type, int32_t* out);
void tables(cnrtQueue_t queue, int32_t* out);
void same_name(cnrtQueue_t queue, int32_t* out);
void same_name_twin(cnrtQueue_t queue, int32_t* out);
void no_arguments(cnrtQueue_t queue);
void loops(cnrtQueue_t queue, int32_t* out);

// odd_cpp.mlu
void odd_cpp(cnrtQueue_t queue, int32_t* out, int n);
void odd_launches(cnrtQueue_t queue, int32_t* out);
void odd_objects(cnrtQueue_t queue, int32_t* out);

// barriers.mlu
void sum_of_cluster(cnrtQueue_t queue, unsigned clusters, float* out, const float* in);
void neighbours(cnrtQueue_t queue, cnrtFunctionType_t type, unsigned tasks, int32_t* out, int32_t* scratch);
void copied_neighbours(cnrtQueue_t queue, unsigned tasks, int32_t* out, int32_t* scratch, int barrier);
void copied_across_clusters(cnrtQueue_t queue, int32_t* out, int32_t* scratch);
void broadcast(cnrtQueue_t queue, float* out, const float* in);
void counted(cnrtQueue_t queue, float* out, float* scratch);
void counted_for_ever(cnrtQueue_t queue);
void given(cnrtQueue_t queue, float* out, const float* in);
void doubled(cnrtQueue_t queue, float* p);
void not_asked(cnrtQueue_t queue, float* out, const float* in, int form);
void stored_at_own(cnrtQueue_t queue, float* out, int form);
void kept(cnrtQueue_t queue, float* out);
void dead_lock(cnrtQueue_t queue);

// spelled.mlu; `form` chooses how an element is written
void sum_padding_spelled(cnrtQueue_t queue, float* g, int form, bool right);
void race_in_sram_spelled(cnrtQueue_t queue, int form, bool right);
void forget_last_spelled(cnrtQueue_t queue, float* g, int form, bool right);
void load_over_read_spelled(cnrtQueue_t queue, float* g, int form, bool right);
void no_accesses_of(cnrtQueue_t queue, float* g);
void race_by_reference_on(cnrtQueue_t queue, float* g, int form, bool right);
void load_fresh_by_reference_on(cnrtQueue_t queue, float* fresh, float* g, int form, bool right);
void mere_references_on(cnrtQueue_t queue, float* g);
void use_number_spelled(cnrtQueue_t queue, float* g, int form, bool right);
void race_of_numbers_spelled(cnrtQueue_t queue, int form, bool right);
void forget_number_spelled(cnrtQueue_t queue, float* g, int form, bool right);
void no_numbers_of(cnrtQueue_t queue, float* g);

// fills.mlu
void fill_types(cnrtQueue_t queue, void* flags, char* letters, long long* numbers, unsigned long long* sizes);

// words.mlu
void fused_float(cnrtQueue_t queue, float* out, const float* in);
void fused_half(cnrtQueue_t queue, void* out, const void* in);
void mlisa_integers(cnrtQueue_t queue, int32_t* out);
void built_fusion(cnrtQueue_t queue, float* out);
void bfloat16_words(cnrtQueue_t queue, void* out);
void index_behind_a_half(cnrtQueue_t queue, int32_t* out);
void wram_copies(cnrtQueue_t queue, float* out);
void tensor_unit(cnrtQueue_t queue, float* out, const void* a, const void* b);

// capacity.mlu, faults.mlu
void too_much_nram(cnrtQueue_t queue);
void stores_undefined(cnrtQueue_t queue, float* out);
void stores_kept(cnrtQueue_t queue, float* out, bool fill);
void reads_beyond(cnrtQueue_t queue, const float* in, int64_t offset);
int stores_behind(cnrtQueue_t queue, float* block, int64_t middle, int floats);  // the line of its parameters
void load_scalars(cnrtQueue_t queue, float* words, int from, int to);
void throws(cnrtQueue_t queue);
void unknown_mlisa(cnrtQueue_t queue);
void races(cnrtQueue_t queue, float* out);
void endless(cnrtQueue_t queue, int form);
void strays(cnrtQueue_t queue, int form, float* host);
void divides_by(cnrtQueue_t queue, int zero, int minus_one, int64_t* out);
void sinks(cnrtQueue_t queue, int bytes);

// whole_wram.mlu
void fill_wram(cnrtQueue_t queue, bool beyond);

// times.mlu
void compute_on(cnrtQueue_t queue, unsigned tasks, float* g, int form, int steps);
void spell_on(cnrtQueue_t queue, float* g, int form, int n, bool in_nram);
void compute_in_pieces_on(cnrtQueue_t queue, float* g, int steps);
void wait_on(cnrtQueue_t queue, float* g, int steps, int barriers);
void memory_cores_on(cnrtQueue_t queue, unsigned clusters, const float* g, int times);

// defects.mlu
int defects();
const char* defect_name(int which);
void run_defect(cnrtQueue_t queue, int which, bool right, float* g, float* fresh);

// layout.mlu
void two_large_kernels(cnrtQueue_t queue, float* out);
void beyond_one_nram(cnrtQueue_t queue, float* g, int form, bool right);
void two_wram_arrays(cnrtQueue_t queue, float* out);
void union8(cnrtQueue_t queue, int32_t* out);
void keep_until_the_end();

}  // namespace neuware_test
