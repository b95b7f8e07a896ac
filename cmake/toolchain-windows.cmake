# Cross build for Windows, x86-64, with Debian's mingw-w64; Highway lies in a folder that windows-sysroot.sh fills;
# programs run under wine. docs/platforms.md says how far it goes.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# The C++ runtime goes inside: Windows has none.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/windows ABSOLUTE)
set(HWY_DIR ${sysroot}/usr/lib/cmake/hwy)
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
