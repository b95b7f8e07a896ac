# Cross build for macOS on arm64: macos-sysroot.sh fills the folder with a compiler and Highway. Nothing of it runs on
# Linux. docs/platforms.md says how far it goes.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 20)  # of macOS 11
set(CMAKE_SYSTEM_PROCESSOR arm64)
get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/macos ABSOLUTE)
set(CMAKE_C_COMPILER ${sysroot}/bin/cc)
set(CMAKE_CXX_COMPILER ${sysroot}/bin/c++)
set(CMAKE_AR ${sysroot}/bin/ar CACHE FILEPATH "" FORCE)
set(CMAKE_RANLIB ${sysroot}/bin/ranlib CACHE FILEPATH "" FORCE)
set(CMAKE_INSTALL_NAME_TOOL ${sysroot}/bin/install_name_tool CACHE FILEPATH "" FORCE)
set(CMAKE_STRIP "" CACHE FILEPATH "" FORCE)  # the linker does it
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_BUILD_WITH_INSTALL_NAME_DIR ON)

set(HWY_DIR ${sysroot}/usr/lib/cmake/hwy)
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
