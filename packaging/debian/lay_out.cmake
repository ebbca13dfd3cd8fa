# Run by CPack on the staged tree, before it is packed: puts what Debian's tools look for where they look.
cmake_policy(VERSION 3.22)
set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(tree ${top}/usr/lib/belay)

function(link place target)  # target as seen from the link
  cmake_path(GET place PARENT_PATH folder)
  file(MAKE_DIRECTORY ${top}/${folder})
  file(CREATE_LINK ${target} ${top}/${place} SYMBOLIC)
endfunction()
function(compress file)  # the same bytes in every build
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

link(usr/bin/belay ../lib/belay/bin/belay)
link(usr/bin/npu-smi ../lib/belay/bin/belay)
link(usr/share/cmake/belay ../../lib/belay/lib64/cmake/belay)
file(WRITE ${top}/usr/lib/python3/dist-packages/belay.pth "/usr/lib/belay/python/site-packages\n")
file(MAKE_DIRECTORY ${top}/var/lib/belay)

# In its place for good, the file may name it, and programs find the library by it.
file(READ ${tree}/lib64/pkgconfig/belay.pc text)
string(REPLACE "\${pcfiledir}/../.." "/usr/lib/belay" text "${text}")
string(REPLACE "-lascendcl" "-lascendcl -Wl,-rpath,\${libdir}" text "${text}")
file(WRITE ${top}/usr/share/pkgconfig/belay.pc "${text}")

file(MAKE_DIRECTORY ${top}/usr/share/zsh)
foreach(part man bash-completion fish)
  file(RENAME ${tree}/share/${part} ${top}/usr/share/${part})
endforeach()
file(RENAME ${tree}/share/zsh/site-functions ${top}/usr/share/zsh/vendor-completions)
file(REMOVE_RECURSE ${tree}/share/zsh)
file(GLOB pages ${top}/usr/share/man/man1/*.1)
foreach(page ${pages})
  compress(${page})
endforeach()

set(papers ${top}/usr/share/doc/belay)
file(COPY ${CPACK_BELAY_SOURCE}/packaging/debian/copyright ${CPACK_BELAY_SOURCE}/README.md DESTINATION ${papers})
file(COPY_FILE ${CPACK_BELAY_SOURCE}/CHANGELOG.md ${papers}/NEWS)
compress(${papers}/NEWS)
string(TIMESTAMP when "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if that is set
file(WRITE ${papers}/changelog "belay (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
  "  * What is new is in NEWS.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${when}\n")
compress(${papers}/changelog)

file(GLOB_RECURSE files LIST_DIRECTORIES true ${top}/*)
foreach(file ${files})
  if(IS_SYMLINK ${file})
  elseif(IS_DIRECTORY ${file} OR file STREQUAL "${tree}/bin/belay")
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  else()
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
