# Gives every global name in an archive that is not part of the API a prefix of ours, so that a program which
# links it may use the name for something else:
#   cmake -DARCHIVE=libcleat.a -DNM=nm -DOBJCOPY=objcopy -P private_names.cmake
# utf8_next becomes cleat__utf8_next. Debug information keeps the names of the sources, so a debugger shows
# and takes these. What a compiler made for itself (__x86.get_pc_thunk.ax) is left alone: it starts with "_".
# What a link-time optimiser would read has the old names and goes.
execute_process(COMMAND ${NM} -g --defined-only --format=posix ${ARCHIVE} OUTPUT_VARIABLE symbols
                ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z][^ \n]* [A-Z] " names "${symbols}")
list(TRANSFORM names REPLACE "^\n?([^ ]*) .*" "\\1")
list(REMOVE_DUPLICATES names)
list(FILTER names EXCLUDE REGEX "^cleat_")
list(TRANSFORM names REPLACE "(.+)" "\\1 cleat__\\1\n")
list(JOIN names "" names)
file(WRITE ${ARCHIVE}.names "${names}")
execute_process(
  COMMAND ${OBJCOPY} --redefine-syms=${ARCHIVE}.names --remove-section=.gnu.lto_*
          --remove-section=.gnu.debuglto_* ${ARCHIVE} COMMAND_ERROR_IS_FATAL ANY)
