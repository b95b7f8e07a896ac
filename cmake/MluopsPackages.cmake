# Says at once what is missing to build the library, and the line that installs it, instead of failing at the first
# thing not found. The packages' names come from debian-packages.txt.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/debian-packages.txt mluops_debian_packages REGEX "^[^#:]+$")

function(mluops_say_missing)
  list(JOIN ARGN ", " missing)
  list(JOIN mluops_debian_packages " " packages)
  message(FATAL_ERROR "mluop-host: missing: ${missing}. On Debian 12 this line installs what the build needs:\n"
                      "  apt-get update && apt-get install -y --no-install-recommends ${packages}\n"
                      "(as root or with sudo; ./run deps does the same)")
endfunction()

# Before project(), which itself would only say that there is no compiler.
function(mluops_require_compiler)
  if(CMAKE_CXX_COMPILER OR DEFINED ENV{CXX} OR CMAKE_TOOLCHAIN_FILE)
    return()
  endif()
  find_program(mluops_cxx NAMES c++ g++ clang++)
  if(NOT mluops_cxx)
    mluops_say_missing("a C++20 compiler (g++)")
  endif()
endfunction()

# After project(): the libraries of the configuration.
function(mluops_require_libraries)
  set(missing "")
  find_package(HWY QUIET CONFIG)
  if(NOT HWY_FOUND)
    list(APPEND missing "Highway (libhwy-dev)")
  endif()
  if(MLUOPS_OPENMP)
    find_package(OpenMP QUIET COMPONENTS CXX)
    if(NOT OpenMP_CXX_FOUND)
      list(APPEND missing "OpenMP (of the compiler, or -DMLUOPS_OPENMP=OFF)")
    endif()
  endif()
  if(MLUOPS_TBB)
    find_package(TBB QUIET)
    if(NOT TBB_FOUND)
      list(APPEND missing "TBB (libtbb-dev, or -DMLUOPS_TBB=OFF)")
    endif()
  endif()
  if(missing)
    mluops_say_missing(${missing})
  endif()
endfunction()
