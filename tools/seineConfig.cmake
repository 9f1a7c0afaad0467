# seine::seine is the shared library, seine::seine-static the archive. Only the
# archive needs the outside libraries by name; without them it cannot be linked.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(seine_outside QUIET IMPORTED_TARGET @requires@)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/seineTargets.cmake)
