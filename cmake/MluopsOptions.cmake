# What a builder can choose.
option(MLUOPS_BUILD_TESTS "Build the test suite (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(MLUOPS_BUILD_BENCH "Build bench and explain (needs Google Benchmark)" ${PROJECT_IS_TOP_LEVEL})
option(MLUOPS_WERROR "Warnings are errors" OFF)
option(MLUOPS_BUNDLE_OPENMP "Put libgomp beside the library in a Python wheel" OFF)
set(MLUOPS_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
