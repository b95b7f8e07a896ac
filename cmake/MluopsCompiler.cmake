# Language level, warnings, sanitizers, for every target of this project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy and editors
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(mluops_flags INTERFACE)
# No silent fused multiply-add: results are bitwise equal with every compiler.
target_compile_options(mluops_flags INTERFACE -Wall -Wextra -Wshadow -Wvla -ffp-contract=off)
if(MLUOPS_WERROR)
  target_compile_options(mluops_flags INTERFACE -Werror)
endif()
if(APPLE)
  target_compile_definitions(mluops_flags INTERFACE _REENTRANT)  # or its headers declare no lgamma_r
  set(MLUOPS_ORIGIN @loader_path)
  foreach(language C CXX)  # CMake on other systems has no option for a search path
    set(CMAKE_SHARED_LIBRARY_RUNTIME_${language}_FLAG -Wl,-rpath,)
  endforeach()
else()
  set(MLUOPS_ORIGIN $ORIGIN)
endif()
if(WIN32 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # The stack there is aligned to 16 bytes, and gcc (bug 54412) moves longer vectors to it as if it were aligned to them.
  target_compile_options(mluops_flags INTERFACE -Wa,-muse-unaligned-vector-move)
endif()
if(MLUOPS_SANITIZE)
  # Not checked: enum, since C callers may pass any int, which the API must answer with a status; vptr, whose runtime
  # a C program does not link.
  target_compile_options(mluops_flags INTERFACE -fsanitize=${MLUOPS_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all -fno-sanitize=enum,vptr)
  target_link_options(mluops_flags INTERFACE -fsanitize=${MLUOPS_SANITIZE})
endif()
if(MLUOPS_FUZZ)
  # Only texts are found by the comparisons they meet; telling of each comparison is a third of any other target's time.
  target_compile_options(mluops_flags INTERFACE -fsanitize=fuzzer-no-link
                         $<$<NOT:$<BOOL:$<TARGET_PROPERTY:FUZZ_TEXT>>>:-fno-sanitize-coverage=trace-cmp>)
endif()

# Instruction-set levels of the cpu backend. x86-64: as such, SSE4, AVX2, AVX-512; levels between them cost build time and
# win nothing. aarch64: NEON, which every such processor has. Not SVE: its vectors have no size at compile time, so they
# can be neither members nor elements of an array, which is how the kernels hold their register tiles.
set(MLUOPS_HWY_DISABLED_TARGETS "HWY_SSSE3")
set(MLUOPS_SIMD_OPTIONS "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # Highway compiles its NEON functions with +crypto; classes that hold vectors need the same, or their implicit
  # constructors could not inline those. No compiler makes such instructions of plain code.
  set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
  if(NOT APPLE)  # whose processors have it, as its compilers know
    set(MLUOPS_SIMD_OPTIONS -march=armv8-a+crypto)
  endif()
elseif(MLUOPS_LEVELS STREQUAL "avx2")
  set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_AVX3|HWY_AVX3_DL)")
  set(MLUOPS_SIMD_OPTIONS -march=haswell)  # then Highway leaves out what is below
elseif(MLUOPS_LEVELS STREQUAL "native")
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_SSSE3|HWY_AVX3_DL)")
  if(flags MATCHES " avx512vl( |$)")
    set(MLUOPS_SIMD_OPTIONS -march=skylake-avx512)
  elseif(flags MATCHES " avx2( |$)")
    set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_AVX3|HWY_AVX3_DL)")
    set(MLUOPS_SIMD_OPTIONS -march=haswell)
  endif()
elseif(MLUOPS_LEVELS STREQUAL "machine")
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  if(flags MATCHES " avx512vl( |$)")
    set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_SSSE3|HWY_SSE4|HWY_AVX2)")
  elseif(flags MATCHES " avx2( |$)")
    set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
  else()
    set(MLUOPS_HWY_DISABLED_TARGETS "(HWY_SSSE3|HWY_AVX2|HWY_AVX3|HWY_AVX3_DL)")
  endif()
elseif(NOT MLUOPS_LEVELS STREQUAL "all")
  message(FATAL_ERROR "MLUOPS_LEVELS: all, machine, native or avx2, not ${MLUOPS_LEVELS}")
endif()

add_library(mluops_levels INTERFACE)
target_compile_definitions(mluops_levels INTERFACE HWY_DISABLED_TARGETS=${MLUOPS_HWY_DISABLED_TARGETS})
target_compile_options(mluops_levels INTERFACE ${MLUOPS_SIMD_OPTIONS})

# Hardening of the shipped library; not of its tests, nor of sanitizer builds, which check the same and more.
add_library(mluops_hardening INTERFACE)
if(NOT MLUOPS_SANITIZE)
  target_compile_options(mluops_hardening INTERFACE -fstack-protector-strong
                                                    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                                                    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT WIN32)
    target_compile_options(mluops_hardening INTERFACE -fcf-protection=full)
  endif()
  if(WIN32)  # what it calls is in a library of the compiler
    target_link_options(mluops_hardening INTERFACE -fstack-protector-strong)
  elseif(NOT APPLE)
    target_link_options(mluops_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
endif()

find_package(Threads REQUIRED)

# For tests, linked behind mluops_flags: problem structs grow at their end, and an initializer that names the older
# members leaves the rest zero.
add_library(mluops_test_flags INTERFACE)
target_compile_options(mluops_test_flags INTERFACE -Wno-missing-field-initializers)
