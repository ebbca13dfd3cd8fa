# The Debian package, made by scripts/package: the tree in /usr/lib/belay, and links and small files where Debian's tools
# look (packaging/debian/lay_out.cmake).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME belay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Whoever hands packages out names themselves, as in all of Debian's tools. Nobody answers at an address in .invalid.
set(contact "the contributors of belay <nobody@belay.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_CONTACT "${contact}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/belay)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/lay_out.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/repack.cmake)
set(CPACK_BELAY_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3 (>= 3.9), python3-pytest, cmake, pkg-config")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Programs that use AscendCL (Huawei CANN) memory run on it unchanged, without
a card: a libascendcl.so and a Python module acl with the same functions,
error codes and memory figures. It reports their memory mistakes in words.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
