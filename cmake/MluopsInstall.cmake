# Installation, in components that are also the Debian packages: runtime (the library), dev (headers, CMake
# package, pkg-config file), tools (bench and explain), neuware (the BANG C toolchain). Everything finds its neighbours
# from where it lies itself, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS mluops EXPORT mluops LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
        NAMELINK_COMPONENT dev RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
if(MLUOPS_BUILD_ONNXRUNTIME)
  install(TARGETS mluops_ort LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
install(DIRECTORY api/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mluops-host COMPONENT dev)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mluops)
install(EXPORT mluops NAMESPACE mluops:: FILE mluopsTargets.cmake DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/mluopsConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)

file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/mluops.pc.in ${CMAKE_CURRENT_BINARY_DIR}/mluops.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mluops.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

if(MLUOPS_BUILD_BENCH)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(mluops_bench PROPERTIES INSTALL_RPATH ${MLUOPS_ORIGIN}/${bin_to_lib})
  set_target_properties(mluops_explain PROPERTIES INSTALL_RPATH ${MLUOPS_ORIGIN}/${bin_to_lib})
  if(TARGET mluops_conformance)
    set_target_properties(mluops_conformance mluops_replay PROPERTIES INSTALL_RPATH ${MLUOPS_ORIGIN}/${bin_to_lib})
    install(TARGETS mluops_conformance mluops_replay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
  endif()
  if(TARGET mluops_device)  # links with no library of the project
    install(TARGETS mluops_device LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/mluops COMPONENT tools OPTIONAL)
  endif()
  install(TARGETS mluops_bench mluops_explain RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
endif()

# ./run deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mluops)
set(CPACK_PACKAGE_CONTACT "mluop-host maintainers <maintainers@mluop-host.invalid>")
set(CPACK_COMPONENTS_ALL runtime dev tools)
if(MLUOPS_BUILD_NEUWARE)
  list(APPEND CPACK_COMPONENTS_ALL neuware)
endif()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
get_target_property(library_dir mluops BINARY_DIR)  # the tools use the library, which no installed package has
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${library_dir} ${PROJECT_BINARY_DIR}/neuware/lib64)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libmluops1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Cambricon mluOp operators on machines without an MLU: the library")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libmluops-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libmluops1 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Cambricon mluOp operators on machines without an MLU: headers, CMake, pkg-config")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME mluops-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libmluops1 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Cambricon mluOp operators on machines without an MLU: benchmark and explain")
set(CPACK_DEBIAN_NEUWARE_PACKAGE_NAME mluops-neuware)
set(CPACK_DEBIAN_NEUWARE_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_NEUWARE_PACKAGE_DEPENDS "g++ | clang")  # cncc's host compiler
set(CPACK_COMPONENT_NEUWARE_DESCRIPTION "BANG C toolchain with an emulated MLU: cncc, libcnrt, FindBANG.cmake")
set(CPACK_STRIP_FILES ON)
include(CPack)
