# Language level, warnings, sanitizers, for every target of this project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(mluops_flags INTERFACE)
# No silent fused multiply-add: the same source gives the same bits with every compiler.
target_compile_options(mluops_flags INTERFACE -Wall -Wextra -Wshadow -Wvla -ffp-contract=off)
if(MLUOPS_WERROR)
  target_compile_options(mluops_flags INTERFACE -Werror)
endif()
if(MLUOPS_SANITIZE)
  # Not checked: enum, since C callers may pass any int, which the API must answer with a status; vptr, whose runtime
  # a C program does not link.
  target_compile_options(mluops_flags INTERFACE -fsanitize=${MLUOPS_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all -fno-sanitize=enum,vptr)
  target_link_options(mluops_flags INTERFACE -fsanitize=${MLUOPS_SANITIZE})
endif()

find_package(Threads REQUIRED)
