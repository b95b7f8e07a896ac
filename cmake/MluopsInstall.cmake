# Installed package: find_package(mluops) gives mluops::mluops.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS mluops EXPORT mluops LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY api/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mluops-host)
install(EXPORT mluops NAMESPACE mluops:: FILE mluopsTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mluops)
configure_package_config_file(cmake/mluopsConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mluops)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/mluopsConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mluops)
